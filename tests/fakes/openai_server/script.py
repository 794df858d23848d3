"""What a server is told to answer: words and calls of `tests.fakes.model`, and every way to misbehave.

server.plays(calls(("look", {"airport": "JFK"})), too_many(retry_after=2), cut(says("half")), done(ok=True))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from runtime.model.port import ModelAnswer
from tests.fakes.openai_server.asked import Asked
from tests.fakes.openai_server.protocol import call_of, chunks_of, completion_of, fault_of, usage_of

JSON, EVENTS, HTML = "application/json", "text/event-stream; charset=utf-8", "text/html; charset=utf-8"


@dataclass(frozen=True)
class Head:
    """Status and headers; a stream has no length."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    streams: bool = False


@dataclass(frozen=True)
class Wait:
    """So many seconds; without a number, until the test says `release` or the client is gone."""

    seconds: float | None = None


@dataclass(frozen=True)
class Cut:
    """The connection ends here."""


Act = Head | bytes | Wait | Cut


@dataclass(frozen=True)
class Reply:
    """What is done on the wire, one act after the other, once it is known what was asked."""

    acts: Callable[[Asked], list[Act]]


Answer = ModelAnswer | Reply
Scripted = Answer | Callable[[Asked], Answer]


def acts_of(answer: Answer, asked: Asked) -> list[Act]:
    """Return what is done on the wire for an answer: whole, or as a stream where one is wanted and given."""
    if isinstance(answer, Reply):
        return answer.acts(asked)
    completion = completion_of(answer, model=asked.json.get("model", ""), number=asked.number)
    if not (asked.stream and asked.quirks.streams):
        return _body(json.dumps(completion).encode())
    told = asked.quirks.stream_usage
    usage = "each" if told == "each" else "last" if told == "asked" and asked.wants_usage else "never"
    return streamed(*chunks_of(completion, usage=usage)).acts(asked)


# What comes at once.


def whole(completion: Mapping[str, Any]) -> Reply:
    """Send this completion whole, whatever is asked for."""
    return Reply(lambda _: _body(json.dumps(completion).encode()))


def message(*, finish: str | None = "stop", usage: Any = None, **fields: Any) -> Reply:
    """Send a message of these very fields whole: `message(content=None, tool_calls=[…])`."""
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake-model", "choices": [choice]}
    return whole({**body, "usage": usage_of(10, 5) if usage is None else usage})


def calls_as_written(*calls: tuple[str, str], finish: str = "tool_calls") -> Reply:
    """Send calls whose arguments are this text, whole JSON or not; as a stream where one is wanted."""
    told = [call_of(f"call_{index}", name, text) for index, (name, text) in enumerate(calls)]
    completion = completion_of(ModelAnswer())
    completion["choices"][0] |= {"finish_reason": finish}
    completion["choices"][0]["message"]["tool_calls"] = told
    return Reply(lambda asked: (streamed(*chunks_of(completion)) if asked.stream else whole(completion)).acts(asked))


def sends(body: str | bytes, *, status: int = 200, media_type: str = JSON, **headers: str) -> Reply:
    """Send these very bytes: JSON that is none, the wrong type of content, nothing at all."""
    data = body.encode() if isinstance(body, str) else body
    return Reply(lambda _: _body(data, status, media_type, **headers))


def html(status: int = 502, text: str = "Bad Gateway") -> Reply:
    """Send the page of a proxy that stands in front."""
    return sends(f"<html><head><title>{status} {text}</title></head></html>", status=status, media_type=HTML)


def fails(status: int = 500, words: str = "The server had an error.", **more: Any) -> Reply:
    """Send a fault in the form of the protocol; `code`, `param` and `kind` go into it, anything else is a header."""
    kind = more.pop("kind", "server_error" if status >= 500 else "invalid_request_error")
    body = fault_of(words, kind=kind, code=more.pop("code", None), param=more.pop("param", None))
    return sends(json.dumps(body), status=status, **more)


def bad_request(words: str = "The request is wrong.", *, param: str | None = None, code: str | None = None) -> Reply:
    """Refuse the request: 400."""
    return fails(400, words, param=param, code=code)


def too_many(retry_after: float | datetime | str | None = None) -> Reply:
    """Ask to wait: 429, for so many seconds, until a time, or without saying how long."""
    told = format_datetime(retry_after, usegmt=True) if isinstance(retry_after, datetime) else retry_after
    headers = {} if told is None else {"Retry-After": str(told)}
    return fails(429, "Rate limit reached.", kind="rate_limit_error", code="rate_limit_exceeded", **headers)


def _body(data: bytes, status: int = 200, media_type: str = JSON, **headers: str) -> list[Act]:
    half = len(data) // 2
    head = Head(status, (("Content-Type", media_type), *((k.replace("_", "-"), v) for k, v in headers.items())))
    return [head, data[:half], data[half:]]


# What comes in parts.


def streamed(*chunks: Mapping[str, Any] | str | bytes, ends: bool = True) -> Reply:
    """Send these chunks: objects, the text of one event each, or bytes as they are; `ends` says `[DONE]` at the end."""
    acts: list[Act] = [Head(200, (("Content-Type", EVENTS),), streams=True)]
    acts.extend(_event(chunk) for chunk in chunks)
    return Reply(lambda _: [*acts, *([_event("[DONE]")] if ends else [])])


def breaks_off(answer: ModelAnswer, *, before: int = 1) -> Reply:
    """Stream an answer without its last chunks, the reason of its end among them; closed properly, without `[DONE]`."""
    return Reply(lambda asked: streamed(*_without_end(answer, before), ends=False).acts(asked))


def _without_end(answer: ModelAnswer, before: int) -> Sequence[Mapping[str, Any]]:
    return chunks_of(completion_of(answer), usage="never")[:-before]


def _event(chunk: Mapping[str, Any] | str | bytes) -> bytes:
    if isinstance(chunk, bytes):
        return chunk
    return f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n".encode()


# When it comes, and how it ends.


def slow(answer: Answer, *, seconds: float) -> Reply:
    """Wait before the first byte."""
    return Reply(lambda asked: [Wait(seconds), *acts_of(answer, asked)])


def held(answer: Answer) -> Reply:
    """Send nothing before the test says `release`."""
    return Reply(lambda asked: [Wait(), *acts_of(answer, asked)])


def stalls(answer: Answer, *, after: int = 1) -> Reply:
    """Send so many parts of the body and then nothing more, until the test says `release`; a whole body has two."""
    return Reply(lambda asked: _with(Wait(), acts_of(answer, asked), after))


def cut(answer: Answer, *, after: int = 1) -> Reply:
    """Send so many parts of the body, then end the connection."""
    return Reply(lambda asked: _with(Cut(), acts_of(answer, asked), after))


def hangs_up() -> Reply:
    """End the connection before anything is sent."""
    return Reply(lambda _: [Cut()])


def _with(act: Act, acts: list[Act], after: int) -> list[Act]:
    assert 0 <= after < len(acts) - 1, f"the answer has {len(acts) - 1} parts only, and nothing is left after {after}"
    return [*acts[: after + 1], act, *acts[after + 1 :]]


def played(*answers: Answer) -> Callable[[Asked], Answer]:
    """Give the answer that belongs to how far the conversation is, again when it is asked again."""
    return lambda asked: answers[asked.roles.count("assistant")]
