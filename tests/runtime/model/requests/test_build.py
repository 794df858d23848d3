"""One request made fit for one endpoint."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from runtime.model.answers import Raw, RawCall
from runtime.model.port import ModelRequest
from runtime.model.profile import Calling, Profile
from runtime.model.requests import Built, RequestUnfit, build

FULL = Profile()
SCHEMA = replace(FULL, tools=False, strict=False)
TEXT = replace(SCHEMA, json_schema=False)
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}, "why": {"type": "string"}}, "required": ["n"]}


def tool(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": parameters}}


FIND = tool("desk.find", {"type": "dict", "properties": {"day": {"type": "str"}, "most": {"type": "int"}},
                          "required": ["day"]})  # fmt: skip
OPEN = tool("look", {"type": "object", "properties": {"at": {}}})
BAD = tool("bad", {"type": "string"})
CALLED = [
    {"role": "system", "content": "Rules."},
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "desk.find", "arguments": '{"day":"x"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
]  # fmt: skip


def built(profile: Profile = FULL, tools: Any = (FIND, OPEN), messages: Any = CALLED, **more: Any) -> Built:
    most = more.pop("default_tokens", None)
    request = ModelRequest("reason", messages, tools, **more)
    return build(request, profile, model="m", stream=more.get("stream", True), most_tokens=most)


def test_a_tool_is_offered_under_an_alias_strict_where_it_can_be() -> None:
    find, look = built().body["tools"]

    assert find["function"]["name"] == "desk_find" and find["function"]["strict"] is True
    assert look["function"]["name"] == "look" and "strict" not in look["function"]
    assert built().body["messages"][2]["tool_calls"][0]["function"]["name"] == "desk_find"
    assert built().names.real("desk_find") == "desk.find"


def test_nothing_is_strict_where_the_endpoint_cannot() -> None:
    assert all("strict" not in each["function"] for each in built(FULL.without("strict")).body["tools"])


def test_one_bad_schema_is_dropped_and_told_and_the_request_goes_out() -> None:
    """M1."""
    one = built(tools=(FIND, BAD, "no tool", tool("", {}), copy.deepcopy(FIND)))

    assert [name for name, _ in one.dropped] == ["bad", "?", "?", "desk.find"]
    assert "no object fits it" in one.dropped[0][1]
    assert one.offered == {"desk_find"}


def test_arguments_go_the_way_back_by_either_name() -> None:
    told = {"day": "x", "most": None}

    assert built().restore("desk.find", told) == built().restore("desk_find", told) == {"day": "x"}
    assert built().restore("unknown", told) == told


@pytest.mark.parametrize(
    ("must_call", "choice"),
    [
        ("", None),
        ("any", "required"),
        ("desk.find", {"type": "function", "function": {"name": "desk_find"}}),
        ("bad", None),
    ],
)
def test_a_tool_that_has_to_be_called_is_chosen_if_it_is_offered(must_call: str, choice: Any) -> None:
    assert built(tools=(FIND, BAD), must_call=must_call).body.get("tool_choice") == choice


@pytest.mark.parametrize("profile", [FULL.without("must_call"), SCHEMA, TEXT])
def test_where_the_choice_is_not_heeded_words_ask_for_it(profile: Profile) -> None:
    one = built(profile, must_call="desk.find")

    assert "tool_choice" not in one.body
    assert one.body["messages"][-1]["role"] == "user"
    assert one.body["messages"][-1]["content"].endswith("Answer with a call of the tool desk_find.")


@pytest.mark.parametrize(
    ("profile", "more", "told"),
    [
        (FULL, {"most_tokens": 5}, {"max_completion_tokens": 5}),
        (replace(FULL, max_completion_tokens=False), {"most_tokens": 5}, {"max_tokens": 5}),
        (FULL, {"default_tokens": 9}, {"max_completion_tokens": 9}),
        (FULL, {"most_tokens": 5, "default_tokens": 9}, {"max_completion_tokens": 5}),
        (FULL, {"temperature": 0.0}, {"temperature": 0.0}),
        (replace(FULL, temperature=False), {"temperature": 0.3}, {}),
        (FULL.without("parallel"), {}, {"parallel_tool_calls": False}),
        (FULL.without("stream_usage"), {}, {"stream_options": None}),
        (FULL.without("streams"), {}, {"stream": None, "stream_options": None}),
    ],
)
def test_the_profile_decides_how_each_thing_is_asked_for(profile: Profile, more: Any, told: Any) -> None:
    plain = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    body = built(profile, **more).body
    rest = {name: value for name, value in body.items() if name not in ("messages", "tools")}

    assert rest == {name: value for name, value in {**plain, **told}.items() if value is not None}


@pytest.mark.parametrize("given", ["system", "developer"])
@pytest.mark.parametrize(("developer", "role"), [(True, "developer"), (False, "system")])
def test_instructions_come_under_the_role_that_is_taken(given: str, developer: bool, role: str) -> None:
    messages = [{"role": given, "content": "Rules."}, *CALLED[1:]]

    assert built(replace(FULL, developer=developer), messages=messages).body["messages"][0]["role"] == role


def test_an_endpoint_without_tools_is_held_to_the_schema_of_an_action() -> None:
    one = built(SCHEMA)
    schema = one.body["response_format"]["json_schema"]["schema"]
    fits = Draft202012Validator(schema).is_valid

    assert one.calling is Calling.SCHEMA and "tools" not in one.body
    assert fits({"tool": "desk_find", "arguments": {"day": "x"}}) and fits({"tool": "none", "words": "x"})
    assert [message["role"] for message in one.body["messages"]] == ["system", "user", "assistant", "user"]
    assert "- desk_find: Does desk.find." in one.body["messages"][0]["content"]


def test_the_schema_holds_to_the_tool_that_has_to_be_called() -> None:
    schema = built(SCHEMA, must_call="desk.find").body["response_format"]["json_schema"]["schema"]

    assert len(schema["anyOf"]) == 1


def test_an_endpoint_that_is_held_to_nothing_is_asked_in_words() -> None:
    one = built(TEXT)

    assert one.calling is Calling.TEXT and {"tools", "response_format"}.isdisjoint(one.body)
    assert '{"tool": "NAME", "arguments": {…}}' in one.body["messages"][0]["content"]


@pytest.mark.parametrize("profile", [SCHEMA, TEXT])
def test_an_action_is_read_as_the_call_that_it_is(profile: Profile) -> None:
    one = built(profile)

    assert one.read(Raw('{"tool": "desk_find", "arguments": {}}')).calls == (RawCall("", "desk_find", "{}"),)
    assert one.read(Raw('{"tool": "none", "words": "It rains."}')) == Raw("It rains.")
    assert one.read(Raw("It rains.")) == Raw("It rains.")
    thought = one.read(Raw('<think>Hm.</think>{"tool": "look", "arguments": {}}'))
    assert (thought.calls, thought.reasoning) == ((RawCall("", "look", "{}"),), "Hm.")
    assert built(FULL).read(Raw('{"tool": "look", "arguments": {}}')).calls == ()


def test_words_that_have_to_be_an_object_are_held_to_its_schema_and_restored() -> None:
    one = built(tools=(), output=OUTPUT)
    told = one.body["response_format"]["json_schema"]

    assert (told["name"], told["strict"], told["schema"]["required"]) == ("output", True, ["n", "why"])
    assert one.restore_output({"n": 1, "why": None}) == {"n": 1}


def test_without_schemas_the_object_is_asked_for_in_words() -> None:
    one = built(TEXT, tools=(), output=OUTPUT)

    assert "response_format" not in one.body
    assert "one JSON object that fits this schema" in one.body["messages"][-1]["content"]


def test_an_output_that_nothing_fits_is_told_and_not_asked_for() -> None:
    one = built(tools=(), output={"type": "string"})

    assert "response_format" not in one.body
    assert [name for name, _ in one.dropped] == [""]


def test_messages_that_make_no_conversation_are_refused() -> None:
    with pytest.raises(RequestUnfit, match=r"Message 3: The call c1 of desk\.find has no result"):
        built(messages=CALLED[:3])


def test_text_that_no_endpoint_reads_is_made_readable() -> None:
    messages = [
        {"role": "user", "content": "a\ud800\0"},
        {"role": "user", "content": [{"type": "text", "text": "\ud800"}]},
    ]
    body = built(messages=messages).body

    assert json.dumps(body, ensure_ascii=False).encode()
    assert body["messages"][0]["content"] == "a\ufffd␀"


def test_a_request_is_as_the_official_client_declares_it() -> None:
    from openai.types.chat import completion_create_params as params
    from pydantic import ConfigDict, TypeAdapter

    class Whole(params.CompletionCreateParamsStreaming):
        __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    body = built(must_call="desk.find", temperature=0.3, most_tokens=9, output=OUTPUT).body

    assert TypeAdapter(Whole).validate_python(body)["model"] == "m"


def test_what_is_built_changes_nothing_that_was_given_and_is_the_same_each_time() -> None:
    tools, messages = copy.deepcopy((FIND, OPEN, BAD)), copy.deepcopy(CALLED)
    first = built(tools=tools, messages=messages).body

    assert built(tools=tools, messages=messages).body == first == built(tools=list(tools), messages=messages).body
    assert (tools, messages) == ((FIND, OPEN, BAD), CALLED)


def test_a_declaration_is_normalised_once() -> None:
    first, second = (built(tools=[FIND]).body["tools"][0]["function"]["parameters"] for _ in range(2))

    assert first is second
