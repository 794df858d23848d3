"""What an endpoint sends, as plain objects: completions, their chunks, faults, models and embeddings."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runtime.model.port import Ending, ModelAnswer

MODEL = "fake-model"
_FINISH = {Ending.LENGTH: "length", Ending.FILTERED: "content_filter"}


def completion_of(answer: ModelAnswer, *, model: str = MODEL, number: int = 1) -> dict[str, Any]:
    """Return an answer as the protocol sends it whole; its ending says what is odd about it."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.content or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [call_of(each.id, each.name, dict(each.arguments)) for each in answer.calls]
    match answer.ending:
        case Ending.REFUSED:
            message |= {"content": None, "refusal": answer.content or "I cannot help with that."}
        case Ending.REASONING_ONLY:
            message |= {"content": None, "reasoning_content": answer.content or "Let me think."}
        case Ending.EMPTY:
            message["content"] = ""
    finish = _FINISH.get(answer.ending, "tool_calls" if answer.calls else "stop")
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage_of(answer.usage.tokens_in, answer.usage.tokens_out),
    }


def call_of(ident: str, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a call of a tool; arguments that are text already stay as they are, whole or not."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": text}}


def usage_of(tokens_in: int, tokens_out: int) -> dict[str, Any]:
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


def chunks_of(
    completion: Mapping[str, Any], *, size: int = 8, usage: str = "last", calls_at_once: bool = False
) -> list[dict[str, Any]]:
    """Return a completion in chunks of at most `size` characters.

    Args:
        usage: `last` has it in a chunk of its own without choices, `each` in every chunk, `never` nowhere.
        calls_at_once: every call comes whole in one chunk, as some servers send them.
    """
    choice = completion["choices"][0]
    deltas = list(_deltas(choice["message"], size, calls_at_once))
    frame = {**{k: completion[k] for k in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    chunks = [_chunk(frame, delta, None) for delta in deltas]
    chunks.append(_chunk(frame, {}, choice["finish_reason"]))
    if usage == "each":
        return [{**chunk, "usage": completion["usage"]} for chunk in chunks]
    return [*chunks, {**frame, "choices": [], "usage": completion["usage"]}] if usage == "last" else chunks


def _chunk(frame: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {**frame, "choices": [{"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}]}


def _deltas(message: Mapping[str, Any], size: int, calls_at_once: bool) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if message.get("content") is not None else None}
    for name in ("reasoning_content", "content", "refusal"):
        yield from ({name: piece} for piece in _pieces(message.get(name) or "", size))
    for index, call in enumerate(message.get("tool_calls") or []):
        if calls_at_once:
            yield {"tool_calls": [{"index": index, **call}]}
            continue
        function = call["function"]
        yield {"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]}
        for piece in _pieces(function["arguments"], size):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def fault_of(message: str, *, kind: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """Return a fault in the form of the protocol."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models_of(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the list of models, each with what its server says of it beside the protocol."""
    return {"object": "list", "data": [model_of(name, more) for name, more in models.items()]}


def model_of(name: str, more: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "tests", **more}


def embeddings_of(request: Mapping[str, Any], *, width: int = 8) -> dict[str, Any]:
    """Return a vector for each text, the same for the same text, in the form that is asked for."""
    texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
    vectors = [vector_of(text, request.get("dimensions") or width) for text in texts]
    shown = [_packed(v) for v in vectors] if request.get("encoding_format") == "base64" else vectors
    data = [{"object": "embedding", "index": index, "embedding": each} for index, each in enumerate(shown)]
    taken = sum(len(str(text)) // 4 + 1 for text in texts)
    usage = {"prompt_tokens": taken, "total_tokens": taken}
    return {"object": "list", "model": request.get("model", MODEL), "data": data, "usage": usage}


def vector_of(text: Any, width: int) -> list[float]:
    """Return numbers between 0 and 1 that belong to a text."""
    digest = hashlib.shake_256(str(text).encode()).digest(width)
    return [byte / 256 for byte in digest]


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
