"""Streams that endpoints really send and the protocol does not mean, each with the answer that is in them.

server.plays(streamed(*ODD["interleaved calls"].chunks))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Call = tuple[str, str, str]
"""Id, name and text of the arguments."""


@dataclass(frozen=True)
class Odd:
    """Chunks, and what they come to."""

    chunks: Sequence[Any]
    calls: Sequence[Call] = ()
    content: str = ""
    reasoning: str = ""
    usage: int | None = None
    """Tokens of the answer, where it is told."""


def part(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return a chunk with one choice."""
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None = None, ident: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    """Return a chunk with a part of one call, holding only what is given."""
    return part(tool_calls=[entry(index, ident, name, arguments)])


def entry(index: int | None = None, ident: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    told = {key: value for key, value in (("index", index), ("id", ident)) if value is not None}
    return {**told, "type": "function", "function": function}


END, STOP = part("tool_calls"), part("stop")
A, B = ("a", "look", '{"n": 1}'), ("b", "send", '{"to": "x"}')


def took(tokens: int) -> Mapping[str, Any]:
    return {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens}


ODD: Mapping[str, Odd] = {
    # M2: parallel calls
    "interleaved calls": Odd(
        [call(0, "a", "look", ""), call(1, "b", "send", ""), call(0, arguments='{"n"'), call(1, arguments='{"to": '),
         call(0, arguments=": 1}"), call(1, arguments='"x"}'), END],
        calls=[A, B],
    ),
    "parts of two calls in one chunk": Odd(
        [part(tool_calls=[entry(0, "a", "look", '{"n"'), entry(1, "b", "send", '{"to": ')]),
         part(tool_calls=[entry(1, arguments='"x"}'), entry(0, arguments=": 1}")]), END],
        calls=[A, B],
    ),
    "one index with two ids": Odd(
        [call(0, "a", "look", '{"n": '), call(0, arguments="1}"), call(0, "b", "send", '{"to": '),
         call(0, arguments='"x"}'), END],
        calls=[A, B],
    ),
    "one index with two ids, interleaved": Odd(
        [call(0, "a", "look", '{"n": '), call(0, "b", "send", '{"to": '), call(0, "a", arguments="1}"),
         call(0, "b", arguments='"x"}'), END],
        calls=[A, B],
    ),
    "one index and no ids, whole calls": Odd(
        [call(0, "", "look", '{"n": 1}'), call(0, "", "look", '{"n": 2}'), call(0, "", "send", '{"to": "x"}'), END],
        calls=[("", "look", '{"n": 1}'), ("", "look", '{"n": 2}'), ("", "send", '{"to": "x"}')],
    ),
    "no index": Odd(
        [call(None, "a", "look", '{"n": '), call(arguments="1}"), call(None, "b", "send", '{"to": "x"}'), END],
        calls=[A, B],
    ),
    "no index, ids repeated": Odd(
        [call(None, "a", "look", '{"n": '), call(None, "b", "send", '{"to": '), call(None, "a", arguments="1}"),
         call(None, "b", arguments='"x"}'), END],
        calls=[A, B],
    ),
    "no index, several in one chunk": Odd(
        [part(tool_calls=[entry(None, "a", "look", '{"n": 1}'), entry(None, "b", "send", '{"to": "x"}')]), END],
        calls=[A, B],
    ),
    "no index and no ids": Odd(
        [call(None, None, "look", '{"n": 1}'), call(None, None, "send", '{"to": '), call(arguments='"x"}'), END],
        calls=[("", *A[1:]), ("", *B[1:])],
    ),
    "index as text": Odd([call("0", "a", "look", '{"n": '), call("0", arguments="1}"), END], calls=[A]),  # type: ignore[arg-type]
    "index null": Odd(
        [part(tool_calls=[{"index": None, **entry(None, "a", "look", '{"n": 1}')}]), END], calls=[A]
    ),
    "id and name in every chunk": Odd(
        [call(0, "a", "look", ""), call(0, "a", "look", '{"n": '), call(0, "a", "look", "1}"), END], calls=[A]
    ),
    "id empty after the first chunk": Odd(
        [call(0, "a", "look", '{"n": '), call(0, "", "", "1}"), END], calls=[A]
    ),
    "another id in every chunk": Odd(
        [call(0, "a", "look", '{"n": '), call(0, "z", arguments="1"), call(0, "y", arguments="}"), END], calls=[A]
    ),
    "id late": Odd([call(0, None, "look", '{"n": '), call(0, "a", arguments="1}"), END], calls=[A]),
    "name in parts": Odd(
        [call(0, "a", "lo", ""), call(0, name="ok"), call(0, arguments='{"n": 1}'), END], calls=[A]
    ),
    "whole call once more at the end": Odd(
        [call(0, "a", "look", '{"n": '), call(0, arguments="1}"), call(0, "a", "look", '{"n": 1}'), END], calls=[A]
    ),
    "arguments as an object": Odd([call(0, "a", "look", {"n": 1}), END], calls=[A]),
    "arguments null": Odd(
        [part(tool_calls=[{"index": 0, "id": "a", "function": {"name": "look", "arguments": None}}]), END],
        calls=[("a", "look", "")],
    ),
    "second call before the first": Odd(
        [call(1, "b", "send", '{"to": "x"}'), call(0, "a", "look", '{"n": 1}'), END], calls=[A, B]
    ),
    "one call that is no list": Odd([part(tool_calls=entry(0, "a", "look", '{"n": 1}')), END], calls=[A]),
    "call of the older protocol": Odd(
        [part(function_call={"name": "look", "arguments": ""}), part(function_call={"arguments": '{"n": 1}'}),
         part("function_call")],
        calls=[("", "look", '{"n": 1}')],
    ),
    "whole message in a stream": Odd(
        [{"choices": [{"index": 0, "message": {"content": None, "tool_calls": [entry(None, "a", "look", '{"n": 1}')]},
                       "finish_reason": "tool_calls"}]}],
        calls=[A],
    ),
    "whole message after its parts": Odd(
        [part(content="hel"), part(content="lo"),
         {"choices": [{"index": 0, "delta": {}, "message": {"content": "hello"}, "finish_reason": "stop"}]}],
        content="hello",
    ),
    # M4: chunks
    "choices empty, null or missing": Odd(
        [{"choices": []}, part(content="hel"), {"choices": None}, {}, part(content="lo"), STOP], content="hello"
    ),
    "delta null or missing": Odd(
        [{"choices": [{"index": 0, "delta": None}]}, part(content="hello"), {"choices": [{"index": 0}]}, STOP],
        content="hello",
    ),
    "empty ids": Odd([{**part(content="hello"), "id": "", "model": ""}, {**STOP, "id": ""}], content="hello"),
    "a choice that is null": Odd([{"choices": [None]}, part(content="hello"), STOP], content="hello"),
    "things that are no chunk": Odd([None, [], "text", 7, part(content="hello"), STOP], content="hello"),
    "filter annotation first": Odd(
        [{"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
         {"choices": [{"index": 0, "content_filter_results": {"hate": {"filtered": False}}, "finish_reason": None}]},
         part(content="hello"), STOP],
        content="hello",
    ),
    "usage last": Odd([part(content="hello"), STOP, {"choices": [], "usage": took(5)}], content="hello", usage=5),
    "usage in each chunk": Odd(
        [{**part(content="hel"), "usage": took(1)}, {**part(content="lo"), "usage": took(2)},
         {**STOP, "usage": took(3)}],
        content="hello", usage=3,
    ),
    "usage first, then null and zero": Odd(
        [{**part(content="hello"), "usage": took(5)}, {**STOP, "usage": None},
         {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}],
        content="hello", usage=5,
    ),
    "usage in the choice": Odd(
        [part(content="hello"), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": took(5)}]}],
        content="hello", usage=5,
    ),
    "several choices": Odd(
        [part(content="hel"), {"choices": [{"index": 1, "delta": {"content": "no"}}]}, part(content="lo"),
         {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}, STOP],
        content="hello",
    ),
    "content in typed parts": Odd(
        [part(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
         part(content=[{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]), STOP],
        content="hello", reasoning="hm",
    ),
    "empty reason before the end": Odd(
        [part("", content="hel"), part("", content="lo"), STOP], content="hello"
    ),
    # M5: reasoning
    "reasoning under one name": Odd([part(reasoning_content="h"), part(reasoning_content="m"), part(content="hello"),
                                     STOP], content="hello", reasoning="hm"),
    "reasoning under two names": Odd([part(reasoning="hm", reasoning_content="hm"), part(content="hello"), STOP],
                                     content="hello", reasoning="hm"),
}  # fmt: skip
