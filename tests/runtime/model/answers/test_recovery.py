"""Calls that came as text are calls, where the text is nothing else; what only mentions one stays words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import Usage
from runtime.model.answers import Raw, RawCall, answer_of, recover
from runtime.model.port import ModelAnswer

KNOWN = {"look", "send.mail", "get-weather"}
LOOK = ("look", {"n": 1})
MAIL = ("send.mail", {"to": "x"})


def read(content: str, **more: Any) -> ModelAnswer:
    raw = recover(Raw(content, finish_reason="stop", **more), KNOWN)
    return answer_of(raw, name_of=lambda name: name, usage=Usage())


def calls_in(content: str) -> list[tuple[str, Any]]:
    answer = read(content)
    assert not any(call.fault for call in answer.calls)
    return [(call.name, call.arguments) for call in answer.calls]


WRITTEN = [
    # objects
    ('{"name": "look", "arguments": {"n": 1}}', [LOOK]),
    ('{"name": "look", "arguments": "{\\"n\\": 1}"}', [LOOK]),
    ('{"name": "look", "parameters": {"n": 1}}', [LOOK]),
    ('{"type": "function", "name": "look", "parameters": {"n": 1}}', [LOOK]),
    ('{"tool": "look", "args": {"n": 1}, "thought": "I look."}', [LOOK]),
    ('{"tool": "look"}', [("look", {})]),
    ('{"action": "look", "action_input": {"n": 1}}', [LOOK]),
    ('{"id": "x", "type": "function", "function": {"name": "look", "arguments": "{\\"n\\": 1}"}}', [LOOK]),
    ('{"function": "look", "arguments": {"n": 1}}', [LOOK]),
    ('{"name": "functions.look", "arguments": {"n": 1}}', [LOOK]),
    ('{"name": "look", "arguments": null}', [("look", {})]),
    # several
    ('[{"name": "look", "arguments": {"n": 1}}, {"name": "send.mail", "arguments": {"to": "x"}}]', [LOOK, MAIL]),
    ('{"name": "look", "arguments": {"n": 1}}\n{"name": "send.mail", "arguments": {"to": "x"}}', [LOOK, MAIL]),
    ('{"name": "look", "parameters": {"n": 1}}; {"name": "look", "parameters": {"n": 1}}', [LOOK, LOOK]),
    ('{"tool_calls": [{"function": {"name": "look", "arguments": {"n": 1}}}]}', [LOOK]),
    ('{"tool_uses": [{"recipient_name": "functions.look", "parameters": {"n": 1}}]}', [LOOK]),
    # marks
    ('```json\n{"name": "look", "arguments": {"n": 1}}\n```', [LOOK]),
    ('```\n{"name": "look", "arguments": {"n": 1}}```', [LOOK]),
    ('<tool_call>\n{"name": "look", "arguments": {"n": 1}}\n</tool_call>', [LOOK]),
    ('<tool_call>{"name": "look", "arguments": {"n": 1}}</tool_call><tool_call>{"name": "send.mail", '
     '"arguments": {"to": "x"}}</tool_call>', [LOOK, MAIL]),
    ('<tool_call>\n{"name": "look", "arguments": {"n": 1}}', [LOOK]),
    ('[TOOL_CALLS] [{"name": "look", "arguments": {"n": 1}}]', [LOOK]),
    ('[TOOL_CALLS]look{"n": 1}[TOOL_CALLS]send.mail[ARGS]{"to": "x"}', [LOOK, MAIL]),
    ('<|python_tag|>{"name": "look", "parameters": {"n": 1}}<|eom_id|>', [LOOK]),
    ('<function=look>{"n": 1}</function>', [LOOK]),
    ('<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"n": 1}'
     '<|tool_call_end|><|tool_calls_section_end|>', [LOOK]),
    ('<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"n": 1}<|call|>', [LOOK]),
    ('<think>I look.</think>\n<tool_call>{"name": "look", "arguments": {"n": 1}}</tool_call>', [LOOK]),
    # code
    ('functions.look({"n": 1})', [LOOK]),
    ('look({"n": 1})', [LOOK]),
    ("look()", [("look", {})]),
    ('get-weather({"n": null})', [("get-weather", {"n": None})]),
    ("look(n=1)", [LOOK]),
    (r"look(n='\d')", [("look", {"n": r"\d"})]),
    ("[look(n=1), send.mail(to='x')]", [LOOK, MAIL]),
    ("look(n=[1, {'a': None}], b=True)", [("look", {"n": [1, {"a": None}], "b": True})]),
    # words of a well-known form
    ('Thought: I have to look.\nAction: look\nAction Input: {"n": 1}', [LOOK]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "calls"), WRITTEN, ids=[content[:40] for content, _ in WRITTEN])
def test_a_text_that_is_calls_is_calls(content: str, calls: Any) -> None:
    assert calls_in(content) == calls


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        'I call {"name": "look", "arguments": {"n": 1}}',
        '{"name": "look", "arguments": {"n": 1}} is how one looks.',
        'Use <tool_call>{"name": "look", "arguments": {}}</tool_call> for it.',
        "look(n=1) looks.",
        "look (again) at it",
        "look {closely}",
        "look",
        '{"name": "look"}',
        '{"name": "look", "age": 7}',
        '{"name": "look", "arguments": {"n": 1}, "city": "x"}',
        '{"name": "look", "tool": "look", "arguments": {}}',
        '{"name": "Look", "arguments": {"n": 1}}',
        '{"name": "look ", "arguments": {"n": 1}}',
        '{"name": "delete_all", "arguments": {"n": 1}}',
        '[{"name": "look", "arguments": {"n": 1}}, {"name": "delete_all", "arguments": {}}]',
        '[{"name": "look", "arguments": {"n": 1}}, "and so on"]',
        '{"name": "delete_all", "arguments": {"n": ',
        '{"city": "San Francisco", "temperature": 61}',
        '{"look": {"n": 1}}',
        "[]",
        "{}",
        '{"tool_calls": []}',
        "[1, 2]",
        "```json\n```",
        "<tool_call></tool_call>",
        "look(1)",
        "look(*n)",
        "look(**n)",
        "look(n=n)",
        "look(n=__import__('os').system('true'))",
        "look(n=1, n=2)",
        "look(n={1, 2})",
        "look(n=" + "[" * 5_000 + "]" * 5_000 + ")",
        "delete_all(n=1)",
        "functions.delete_all({})",
        'Action: look\nAction Input: {"n": 1}\nObservation: it is fine',
    ],
)
def test_words_stay_words(content: str) -> None:
    raw = Raw(content, finish_reason="stop")

    assert recover(raw, KNOWN) is raw


@pytest.mark.parametrize("gap", [" ", "\n", "look", "(", "[", "{", "<tool_call>", "Thought:", "Action: look\n"])
@pytest.mark.parametrize("start", ["", "to=look", "Action: look", "look", "look("])
def test_long_texts_of_no_sense_stay_words_in_a_time_that_is_their_length(start: str, gap: str) -> None:
    raw = Raw(f"{start}{gap * 100_000}x", finish_reason="stop")

    assert recover(raw, KNOWN) is raw


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "look", "arguments": {"n": ',
        '<tool_call>{"name": "look", "arguments": {"n": 1}',
        '[{"name": "look", "arguments": {"n": 1}}, {"name": "look"',
        '{"name": "look", "arguments": {"n": NaN}}',
        '{"name": "look", "arguments": {"n": 1, "n": 2}}',
        '{"name": "look", "arguments": "n=1"}',
        '{"name": "look", "arguments": [1]}',
        'look({"n": ',
        '[TOOL_CALLS]look{"n": 1',
        '{"name": "look", "arguments": ' + "[" * 10_000,
    ],
)
def test_a_call_that_begins_as_one_and_cannot_be_read_is_at_fault(content: str) -> None:
    (call,) = read(content).calls

    assert (call.name, call.arguments, bool(call.fault)) == ("look", {}, True)


def test_it_can_be_counted_and_nothing_of_the_text_is_left() -> None:
    answer = read('<think>hm</think>{"tool": "look"}')

    assert (answer.content, answer.facts["faults"], answer.facts["reasoning"]) == ("", ["calls came as text"], "hm")


@pytest.mark.parametrize("more", [{"calls": [RawCall("x", "send.mail", "{}")]}, {}])
def test_calls_that_came_as_calls_are_the_calls(more: Any) -> None:
    raw = Raw('{"tool": "look"}', finish_reason="stop", **more)

    assert recover(raw, KNOWN if more else ()) is raw


def test_calls_in_a_text_that_was_cut_are_not_made() -> None:
    raw = recover(Raw('{"tool": "look"}', finish_reason="length"), KNOWN)

    assert answer_of(raw, name_of=str, usage=Usage()).calls == ()


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20), max_size=3)
CALLS = st.lists(st.tuples(st.sampled_from(sorted(KNOWN)), ARGUMENTS), min_size=1, max_size=3)


@settings(max_examples=200, deadline=None)
@given(CALLS, st.booleans())
def test_whatever_arguments_hold_they_come_through(calls: list[tuple[str, Any]], marked: bool) -> None:
    texts = [json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False) for name, arguments in calls]
    content = "".join(f"<tool_call>\n{each}\n</tool_call>" for each in texts) if marked else f"[{', '.join(texts)}]"

    answer = read(content)

    assert [call.name for call in answer.calls] == [name for name, _ in calls]
    assert [call.arguments for call in answer.calls] == [
        {k.replace("\0", "␀"): v.replace("\0", "␀") if isinstance(v, str) else v for k, v in arguments.items()}
        for _, arguments in calls
    ]


@settings(max_examples=300, deadline=None)
@given(
    st.text()
    | st.lists(st.sampled_from([*"{}[]()<>:,\"'=`\n ", "look", "name", "tool_call", "Action: ", "1"])).map("".join)
)
def test_no_text_is_an_error_here(content: str) -> None:
    assert read(content).usage == Usage()
