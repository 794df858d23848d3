"""An answer is calls, words or nothing usable; and no call is made that is not surely whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import Usage
from runtime.canonical import to_bytes
from runtime.model.answers import Assembly, Raw, RawCall, answer_of, raw_of
from runtime.model.port import Ending, ModelAnswer
from tests.fakes.openai_server.oddities import call, part

USAGE = Usage(tokens_in=1)


def read(raw: Raw, names: Mapping[str, str] | None = None) -> ModelAnswer:
    return answer_of(raw, name_of=lambda name: (names or {}).get(name, name), usage=USAGE)


def said(finish: str | None = "stop", **message: Any) -> ModelAnswer:
    return read(raw_of({"choices": [{"message": message, "finish_reason": finish}]}))


def called(*arguments: str, finish: str = "tool_calls") -> ModelAnswer:
    return read(Raw(calls=[RawCall("x", "look", each) for each in arguments], finish_reason=finish))


def streamed(*chunks: Any) -> ModelAnswer:
    assembly = Assembly()
    for chunk in chunks:
        assembly.take(chunk)
    return read(assembly.whole())


@pytest.mark.parametrize(
    ("message", "finish", "ending", "content"),
    [
        ({"content": "hello"}, "stop", Ending.DONE, "hello"),
        ({"content": "hello"}, None, Ending.DONE, "hello"),
        ({"content": "hello"}, "a reason of its own", Ending.DONE, "hello"),
        ({"content": "half of"}, "length", Ending.LENGTH, "half of"),
        ({"content": None, "reasoning_content": "hm"}, "length", Ending.LENGTH, ""),
        ({"content": "half of"}, "content_filter", Ending.FILTERED, "half of"),
        ({"content": None}, "content_filter", Ending.FILTERED, ""),
        ({"content": None}, "content_filter: RECITATION", Ending.FILTERED, ""),
        ({"content": "half of"}, "MAX_TOKENS", Ending.LENGTH, "half of"),
        ({"content": None, "refusal": "I will not."}, "stop", Ending.REFUSED, "I will not."),
        ({"content": None, "reasoning_content": "hm"}, "stop", Ending.REASONING_ONLY, ""),
        ({"content": "", "reasoning": "hm"}, "stop", Ending.REASONING_ONLY, ""),
        ({"content": "<think>hm</think>\n"}, "stop", Ending.REASONING_ONLY, ""),
        ({"content": "<think>hm, and no end of it"}, "stop", Ending.REASONING_ONLY, ""),
        ({"content": None}, "stop", Ending.EMPTY, ""),
        ({"content": ""}, "stop", Ending.EMPTY, ""),
        ({"content": " \n"}, "stop", Ending.EMPTY, ""),
        ({"content": None, "tool_calls": []}, "tool_calls", Ending.EMPTY, ""),
        ({}, "stop", Ending.EMPTY, ""),
        ({"content": "hello"}, "error", Ending.BROKEN_OFF, "hello"),
    ],
)
def test_an_answer_without_calls_is_what_it_is(message: Any, finish: Any, ending: Ending, content: str) -> None:
    answer = said(finish, **message)

    assert (answer.ending, answer.content, answer.calls) == (ending, content, ())


@pytest.mark.parametrize("completion", [{"choices": []}, {"choices": None}, {}, {"choices": [None]}, {"choices": [{}]}])
def test_no_choice_is_an_empty_answer(completion: Any) -> None:
    assert read(raw_of(completion)).ending is Ending.EMPTY


def test_an_error_in_place_of_an_answer_is_no_empty_answer() -> None:
    answer = read(raw_of({"error": {"message": "overloaded"}}))

    assert (answer.ending, answer.facts["error"]) == (Ending.BROKEN_OFF, "overloaded")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "content_filter", "error"])
def test_no_call_of_a_cut_answer_is_made_even_where_it_reads_well(finish: str) -> None:
    answer = called('{"n": 1}', '{"n": ', finish=finish)

    assert (answer.calls, answer.facts["calls_not_made"]) == ((), 2)


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [part(content="hello")],
        [part(reasoning_content="hm")],
        [call(0, "a", "look", '{"n": 1}')],
        [call(0, "a", "look", '{"n": 1}'), {"choices": [], "usage": {"completion_tokens": 5}}],
        [call(0, "a", "look", '{"n": 1}'), part("tool_calls"), {"error": {"message": "overloaded"}}],
    ],
)
def test_a_stream_that_does_not_say_why_it_ended_was_broken_off_and_calls_nothing(chunks: Any) -> None:
    answer = streamed(*chunks)

    assert (answer.ending, answer.calls) == (Ending.BROKEN_OFF, ())


def test_a_refusal_beside_calls_calls_nothing() -> None:
    answer = read(Raw(refusal="I will not.", calls=[RawCall("x", "look", "{}")], finish_reason="stop"))

    assert (answer.ending, answer.content, answer.calls) == (Ending.REFUSED, "I will not.", ())


def test_calls_come_with_our_names_and_the_words_beside_them() -> None:
    raw = Raw(content="I look.", calls=[RawCall("x", "sql_query_1f", '{"n": 1}')], finish_reason="stop")

    answer = read(raw, {"sql_query_1f": "sql.query"})

    assert [(c.id, c.name, c.arguments, c.fault) for c in answer.calls] == [("x", "sql.query", {"n": 1}, "")]
    assert (answer.content, answer.usage, answer.ending) == ("I look.", USAGE, Ending.DONE)


@pytest.mark.parametrize("text", ["", " ", "null", "{}", '"{}"'])
def test_no_arguments_are_none(text: str) -> None:
    assert (called(text).calls[0].arguments, called(text).calls[0].fault) == ({}, "")


def test_arguments_that_were_made_text_twice_are_read() -> None:
    assert called(json.dumps('{"n": 1}')).calls[0].arguments == {"n": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"n": ', "no JSON"),
        ('{"n": 1}{"n": 2}', "no JSON"),
        ("{'n': 1}", "no JSON"),
        ("n=1", "no JSON"),
        ('{"n": NaN}', "NaN is no value"),
        ('{"n": -Infinity}', "-Infinity is no value"),
        ('{"n": 1e999}', "too large"),
        ('{"n": 1' + "0" * 5_000 + "}", "digits"),
        ('{"n": 1, "n": 2}', "'n' stands twice"),
        ('{"n": ' + "[" * 100_000, "brackets"),
        ("[1]", "they are a list where an object was due"),
        ("7", "they are a number"),
        ("true", "they are true or false"),
        ('"text"', "they are text"),
        ('"{ half"', "no JSON"),
    ],
)
def test_broken_arguments_are_a_fault_and_none_are_kept(text: str, why: str) -> None:
    answer = called(text)

    assert why in answer.calls[0].fault
    assert (answer.calls[0].arguments, answer.ending) == ({}, Ending.DONE)
    assert answer.facts["unread"] == {"x": text}


def test_what_no_store_can_hold_is_mended_in_arguments_and_words() -> None:
    text = r'{"zero\u0000": "a\u0000b", "half": "\ud800", "huge": 123456789012345678901234567890}'

    answer = read(Raw(content="a\0b \ud800", calls=[RawCall("\0", "look", text)], finish_reason="stop"))

    assert answer.calls[0].arguments == {"zero␀": "a␀b", "half": "�", "huge": 123456789012345678901234567890}
    assert (answer.content, answer.calls[0].id) == ("a␀b �", "␀")


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["x", "x", "x"], ["x", "x_2", "x_3"]),
        (["", "", "a"], ["call_1", "call_2", "a"]),
        (["x", "x_2", "x"], ["x", "x_2", "x_3"]),
        (["", "call_1"], ["call_1", "call_1_2"]),
    ],
)
def test_ids_are_made_unique(given: list[str], made: list[str]) -> None:
    raw = Raw(calls=[RawCall(each, "look", "{}") for each in given], finish_reason="stop")

    assert [each.id for each in read(raw).calls] == made


def test_a_call_that_names_no_tool_stays_a_call_that_can_be_refused() -> None:
    raw = Raw(calls=[RawCall("x", " ", "{}"), RawCall("y", "look" * 100, "{}")], finish_reason="stop")

    assert [(each.name[:8], len(each.name)) for each in read(raw).calls] == [("unnamed", 7), ("looklook", 200)]


@pytest.mark.parametrize(
    ("content", "words", "thought"),
    [
        ("<think>hm</think>\n\nhello", "hello", "hm"),
        ("hm\n</think>\nhello", "hello", "hm"),
        ("Between <think> and </think> it thinks.", "Between <think> and </think> it thinks.", None),
        ("The mark </think> ends a thought.", "The mark </think> ends a thought.", None),
    ],
)
def test_thoughts_between_their_marks_are_no_words(content: str, words: str, thought: str | None) -> None:
    answer = said(content=content)

    assert (answer.content, answer.facts.get("reasoning")) == (words, thought)


def test_the_facts_say_what_else_came() -> None:
    raw = Raw("hello", "hm", finish_reason="stop", usage={"prompt_tokens": 7}, model="m", faults=["odd"])

    assert read(raw).facts == {
        "model": "m",
        "finish_reason": "stop",
        "reasoning": "hm",
        "usage": {"prompt_tokens": 7},
        "faults": ["odd"],
    }


ODD_TEXT = st.text(st.characters(codec=None, categories=["L", "Cc", "Cs", "P", "N"]))
CALLS = st.lists(st.builds(RawCall, ODD_TEXT, ODD_TEXT, ODD_TEXT | st.sampled_from(['{"n": 1}', '{"\\ud800": NaN}'])))


@settings(max_examples=200, deadline=None)
@given(st.builds(Raw, ODD_TEXT, ODD_TEXT, ODD_TEXT, CALLS, st.none() | ODD_TEXT, st.none(), ODD_TEXT, ODD_TEXT))
def test_whatever_comes_becomes_an_answer_that_can_be_stored(raw: Raw) -> None:
    answer = read(raw)

    stored = {"content": answer.content, "facts": answer.facts, "calls": [dict(c.arguments) for c in answer.calls]}
    to_bytes([stored, *({"id": c.id, "name": c.name, "fault": c.fault} for c in answer.calls)])  # type: ignore[arg-type]
    assert not answer.calls or answer.ending is Ending.DONE
    assert all(not call.arguments for call in answer.calls if call.fault)
    assert len({call.id for call in answer.calls}) == len(answer.calls)
