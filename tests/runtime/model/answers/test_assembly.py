"""An answer comes out of its parts the same, however it was cut and whatever the endpoint left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import Usage
from runtime.model.answers import Assembly, Raw, answer_of, raw_of
from runtime.model.port import ModelAnswer
from tests.fakes.openai_server.oddities import ODD, STOP, call, part

RECORDED = Path(__file__).parent / "recorded"


def assembled(chunks: Any) -> Raw:
    assembly = Assembly()
    for chunk in chunks:
        assembly.take(chunk)
    return assembly.whole()


def recorded(name: str) -> list[Any]:
    lines = (RECORDED / f"{name}.sse").read_text().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


@pytest.mark.parametrize("name", ODD)
def test_odd_streams_come_to_the_answer_that_is_in_them(name: str) -> None:
    odd = ODD[name]

    raw = assembled(odd.chunks)

    assert [(each.id, each.name, each.arguments) for each in raw.calls] == list(odd.calls)
    assert (raw.content, raw.reasoning) == (odd.content, odd.reasoning)
    assert (raw.usage or {}).get("completion_tokens") == odd.usage
    assert raw.finish_reason in ("stop", "tool_calls", "function_call")


@pytest.mark.parametrize(
    ("name", "content", "calls", "reason", "tokens"),
    [
        ("content", '{"city":"San Francisco","temperature":61,"units":"f"}', [], "stop", 14),
        ("length", '{"', [], "length", 1),
        ("one_tool_call", "", [("get_weather", '{"city":"New York City"}')], "tool_calls", 16),
    ],
)
def test_recorded_streams_are_read(name: str, content: str, calls: Any, reason: str, tokens: int) -> None:
    raw = assembled(recorded(name))

    assert (raw.content, [(each.name, each.arguments) for each in raw.calls]) == (content, calls)
    assert (raw.finish_reason, raw.usage["completion_tokens"]) == (reason, tokens)  # type: ignore[index]
    assert (raw.model, raw.faults, raw.error) == ("gpt-4o-2024-08-06", (), "")


TEXT = st.text(max_size=30)
ARGUMENTS = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | TEXT | st.lists(TEXT), max_size=3)
CALLS = st.lists(st.tuples(st.sampled_from(["look", "send", "get_weather", "a.b-c"]), ARGUMENTS), max_size=4)


@st.composite
def completions(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid completion: words, thoughts, calls under ids of their own."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(draw(CALLS))
    ]
    message = {"role": "assistant", "content": draw(TEXT), "refusal": draw(TEXT), "reasoning_content": draw(TEXT)}
    finish = draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter"]))
    choice = {"index": 0, "message": {**message, **({"tool_calls": calls} if calls else {})}, "finish_reason": finish}
    return {"id": "c", "model": "m", "choices": [choice], "usage": {"completion_tokens": 3}}


def cuts(draw: st.DrawFn, text: str) -> list[str]:
    """Return a text in parts, empty ones among them."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@st.composite
def streams(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any]]:
    """Return a completion, and one of the ways in which an endpoint may send it in parts."""
    whole = draw(completions())
    choice, usage = whole["choices"][0], {"usage": whole["usage"]}
    message = choice["message"]
    told = ("reasoning_content", "content", "refusal")
    parts = [part(**{name: piece}) for name in told for piece in cuts(draw, message[name])]
    parts += calls_in_parts(draw, message.get("tool_calls", []))
    if draw(st.booleans()):
        return whole, [*parts, {**part(choice["finish_reason"]), **usage}]
    noise = st.sampled_from([{"choices": []}, {"choices": [], "id": ""}, part(), part(content=None)])
    for chunk in draw(st.lists(noise, max_size=3)):
        parts.insert(draw(st.integers(0, len(parts))), chunk)
    return whole, [*parts, part(choice["finish_reason"]), {"choices": [], "model": "m", **usage}]


def calls_in_parts(draw: st.DrawFn, calls: list[Any]) -> list[Any]:
    """Return the parts of calls: with an index or without, id and name told once or each time, in turn or mixed."""
    indexed, repeats = draw(st.booleans()), draw(st.booleans())
    queues = []
    for number, each in enumerate(calls):
        function, index = each["function"], number if indexed else None
        first, *more = cuts(draw, function["arguments"])
        told = (each["id"], function["name"]) if repeats else (None, None)
        queue = [call(index, each["id"], function["name"], first)]
        queues.append([*queue, *(call(index, *told, piece) for piece in more)])
    if not (indexed or repeats):
        return [each for queue in queues for each in queue]  # nothing but the order tells what belongs together
    begun = [] if indexed else [queue.pop(0) for queue in queues]
    return [*begun, *mixed(draw, queues)]


def mixed(draw: st.DrawFn, queues: list[list[Any]]) -> list[Any]:
    parts = []
    while left := [queue for queue in queues if queue]:
        parts.append(draw(st.sampled_from(left)).pop(0))
    return parts


@settings(max_examples=200, deadline=None)
@given(streams())
def test_any_split_of_a_valid_answer_gives_the_whole_answer(sent: tuple[dict[str, Any], list[Any]]) -> None:
    completion, chunks = sent

    whole, put_together = raw_of(completion), assembled(chunks)

    for field in ("calls", "content", "reasoning", "refusal", "finish_reason", "usage", "model", "faults"):
        assert getattr(put_together, field) == getattr(whole, field), field


def test_several_choices_of_a_whole_answer_are_the_first_and_a_fault() -> None:
    choices = [{"index": at, "message": {"content": words}, "finish_reason": "stop"} for at, words in enumerate("ab")]

    raw = raw_of({"choices": choices})

    assert (raw.content, list(raw.faults)) == ("a", ["there is more than one choice"])


def test_calls_of_a_whole_answer_under_one_id_and_index_are_calls_of_their_own() -> None:
    one = {"index": 0, "id": "x", "function": {"name": "look", "arguments": "{}"}}

    raw = raw_of({"choices": [{"message": {"tool_calls": [one, one]}, "finish_reason": "tool_calls"}]})

    assert [(each.id, each.arguments) for each in raw.calls] == [("x", "{}"), ("x", "{}")]


def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    raw = assembled([part(content="hel"), {"error": {"message": "overloaded", "code": 529}}])

    assert (raw.content, raw.error, raw.finish_reason) == ("hel", "overloaded", None)


def test_a_reason_that_it_was_cut_is_not_taken_back() -> None:
    assert assembled([part("length", content="hel"), STOP]).finish_reason == "length"
    assert assembled([part("tool_calls"), STOP]).finish_reason == "tool_calls"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def mutilated(draw: st.DrawFn) -> list[Any]:
    """Return the chunks of an odd stream in which one value is another, at any depth."""
    chunks = json.loads(json.dumps(ODD[draw(st.sampled_from(sorted(ODD)))].chunks))
    at: Any = chunks
    while isinstance(at, dict | list) and at:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not (at[key] and isinstance(at[key], dict | list)) or draw(st.integers(0, 3)) == 0:
            at[key] = draw(JSON)
            break
        at = at[key]
    return chunks


def read(raw: Raw) -> ModelAnswer:
    return answer_of(raw, name_of=lambda name: name, usage=Usage())


@settings(max_examples=200, deadline=None)
@given(mutilated())
def test_nothing_that_comes_is_an_error_here(chunks: list[Any]) -> None:
    read(assembled(chunks))
    for chunk in chunks:
        read(raw_of(chunk))


@pytest.mark.parametrize("opening", ['{"a":', "["])
@pytest.mark.parametrize("place", ["usage", "error", "arguments", "content", "choices", "finish_reason"])
def test_values_as_deep_as_can_be_read_are_no_error_either(opening: str, place: str) -> None:
    deep = deepest(opening)
    choice = {"delta": {"content": deep if place == "content" else "x"}, "finish_reason": "stop"}
    chunks: dict[str, Any] = {
        "usage": {**part("stop"), "usage": {"a": deep}},
        "error": {"error": deep},
        "arguments": call(0, "a", "look", deep),
        "content": {"choices": [choice]},
        "choices": {"choices": deep},
        "finish_reason": part(deep),
    }

    read(assembled([chunks[place], STOP]))


def deepest(opening: str) -> Any:
    """Return the deepest value that can be read from a text here."""
    closing = "}" if opening.startswith("{") else "]"
    for depth in range(1_000, 0, -10):
        try:
            return json.loads(f"{opening * depth}1{closing * depth}")
        except RecursionError:
            continue
    raise AssertionError("nothing can be read")
