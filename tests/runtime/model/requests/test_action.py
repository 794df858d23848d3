"""Tools for endpoints that have none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runtime.model.requests import Action, action_schema, read_action
from runtime.model.requests.action import in_words, merged
from runtime.model.requests.offer import Offer, offer_of

NODE = {"type": "object", "properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/N"}}, "required": ["v"]}


def offer(**schemas: Any) -> Offer:
    tools = [
        {"type": "function", "function": {"name": n, "description": n, "parameters": s}} for n, s in schemas.items()
    ]
    return offer_of(tools, strict=False)


TWO = offer(
    look={"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]},
    tree={"$ref": "#/$defs/N", "$defs": {"N": NODE}},
    bush={"$ref": "#/$defs/N", "$defs": {"N": {**NODE, "properties": {"v": {"type": "integer"}}}}},
)


@pytest.mark.parametrize(
    ("action", "fits"),
    [
        ({"tool": "look", "arguments": {"at": 1}}, True),
        ({"tool": "look", "arguments": {"at": "x"}}, False),
        ({"tool": "look"}, False),
        ({"tool": "tree", "arguments": {"v": "a", "next": {"v": "b"}}}, True),
        ({"tool": "tree", "arguments": {"v": "a", "next": {"v": 2}}}, False),
        ({"tool": "bush", "arguments": {"v": 2}}, True),
        ({"tool": "fetch", "arguments": {}}, False),
        ({"tool": "none", "words": "It rains."}, True),
        ({"tool": "none", "arguments": {}}, False),
    ],
)
def test_an_action_is_a_tool_with_its_own_arguments_or_words(action: Any, fits: bool) -> None:
    schema = action_schema(TWO.tools)
    Draft202012Validator.check_schema(schema)

    assert Draft202012Validator(schema).is_valid(action) is fits


def test_where_a_tool_has_to_be_called_there_are_no_words() -> None:
    schema = action_schema(TWO.tools, words=False)

    assert not Draft202012Validator(schema).is_valid({"tool": "none", "words": "It rains."})


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"tool": "look", "arguments": {"at": 1}}', Action("look", '{"at":1}')),
        ('```json\n{"tool": "look", "arguments": {}}\n```', Action("look", "{}")),
        ('{"tool": "look", "arguments": "{\\"at\\": 1}"}', Action("look", '{"at": 1}')),
        ('{"tool": "none", "words": "It rains."}', Action(None, words="It rains.")),
        ('{"tool": "look", "arguments": {"at": 1', None),
        ('{"tool": "look", "arguments": {}, "arguments": {"at": 1}}', None),
        ('{"tool": "hammer", "size": 3}', None),
        ('{"n": 3}', None),
        ("[1]", None),
        ("I would call look.", None),
        ("", None),
    ],
)
def test_only_an_answer_that_is_an_action_as_a_whole_is_read_as_one(text: str, action: Action | None) -> None:
    assert read_action(text) == action


@given(st.text())
def test_any_text_is_an_action_or_none_and_never_a_fault(text: str) -> None:
    assert read_action(json.dumps({"tool": "none", "words": text})) == Action(None, words=text)
    assert read_action(text) is None or text.strip().startswith(("{", "`"))


def calling(*idents: str, content: str | None = None) -> dict[str, Any]:
    asked = [{"id": each, "function": {"name": "look", "arguments": f'{{"at":"{each}"}}'}} for each in idents]
    return {"role": "assistant", "content": content, "tool_calls": asked}


def result(ident: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": f"seen {ident}"}


@pytest.mark.parametrize("schema", [True, False])
def test_past_calls_are_told_one_by_one_each_before_its_result(schema: bool) -> None:
    past = [calling("a", "b"), result("b"), result("a")]
    told = list(in_words(past, lambda name: f"my_{name}", schema=schema))

    assert [message["role"] for message in told] == ["assistant", "user", "assistant", "user"]
    assert told[0]["content"] == '{"tool":"my_look","arguments":{"at":"a"}}'
    assert [told[1]["content"], told[3]["content"]] == ["Result of my_look:\nseen a", "Result of my_look:\nseen b"]


def test_past_words_are_actions_where_every_answer_has_to_be_one() -> None:
    said = {"role": "assistant", "content": "It rains."}

    assert next(in_words([said], str, schema=False)) == said
    (told,) = in_words([said], str, schema=True)
    assert read_action(told["content"]) == Action(None, words="It rains.")


def test_neighbours_of_one_role_are_one_message_with_all_their_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    words = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "user", "content": [image]}]

    assert merged(words[:2]) == [{"role": "user", "content": "a\n\nb"}]
    assert merged(words) == [{"role": "user", "content": [{"type": "text", "text": "a\n\nb"}, image]}]
