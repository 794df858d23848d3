"""How an endpoint with quirks answers: what it refuses, and what becomes of the answer that the script means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from contracts import Usage
from runtime.model.port import ModelAnswer, ToolCall
from tests.fakes.openai_server.asked import Asked
from tests.fakes.openai_server.instances import instance_of, said_in, valid
from tests.fakes.openai_server.script import Answer, Reply, bad_request, fails, hangs_up


def refusal_of(asked: Asked) -> Reply | None:
    """Return how the endpoint refuses a request that asks for what it does not have."""
    quirks = asked.quirks
    for name in sorted(quirks.refused & asked.json.keys()):
        return bad_request(f"Unrecognized request argument supplied: {name}", param=name)
    if quirks.hangs_up_on & asked.json.keys():
        return hangs_up()
    if quirks.context_tokens is not None and len(asked.body) // 4 > quirks.context_tokens:
        words = f"This model's maximum context length is {quirks.context_tokens} tokens."
        return bad_request(words, param="messages", code="context_length_exceeded")
    odd = (
        ("developer" in asked.roles, quirks.developer, "messages", "Unexpected role: developer"),
        (any(tool.get("strict") for tool in asked.tools), quirks.strict, "tools", "strict is not supported"),
        (asked.format == "json_schema", quirks.json_schema, "response_format", "json_schema is not supported"),
        (asked.format == "json_object", quirks.json_object, "response_format", "json_object is not supported"),
    )
    for used, quirk, param, words in odd:
        if used and quirk in ("refused", "broken"):
            return fails(500, "Internal server error") if quirk == "broken" else bad_request(words, param=param)
    return None


def as_it_can(answer: Answer, asked: Asked) -> Answer:
    """Return what a scripted answer becomes here; a reply of the wire stays as it is."""
    if isinstance(answer, Reply):
        return answer
    if not asked.tools or asked.quirks.calls != "native":
        answer = _without_tools(answer, asked)
    if not asked.quirks.parallel:
        answer = replace(answer, calls=answer.calls[:1])
    if asked.schema and asked.quirks.json_schema == "held" and not answer.calls:
        return answer if valid(answer.content, asked.schema) else _held(answer, asked.schema)
    return answer


def _without_tools(answer: ModelAnswer, asked: Asked) -> ModelAnswer:
    """Return the calls as an object of the schema that is asked for, as text, or as words that lead nowhere."""
    if not answer.calls:
        return answer
    call = answer.calls[0]
    if asked.schema and asked.quirks.json_schema == "held":
        told = said_in(asked.schema, call.name, dict(call.arguments))
        return replace(answer, calls=(), content=json.dumps(instance_of(asked.schema) if told is None else told))
    texts = [json.dumps({"name": each.name, "arguments": dict(each.arguments)}) for each in answer.calls]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return replace(answer, calls=(), content=text if asked.quirks.calls == "text" else f"I would use {call.name} now.")


def _held(answer: ModelAnswer, schema: Mapping[str, Any]) -> ModelAnswer:
    return replace(answer, content=json.dumps(instance_of(schema, words=answer.content)))


def sensible(asked: Asked) -> ModelAnswer:
    """Answer without a script, as an obliging model would: it calls what it has to and what the last message names."""
    usage = Usage(tokens_in=len(asked.body) // 4, tokens_out=5)
    called = [
        ToolCall(f"call_{asked.number}_{at}", tool["name"], instance_of(tool.get("parameters") or {}))
        for at, tool in enumerate(_to_call(asked))
    ]
    if called:
        return ModelAnswer(calls=called if asked.json.get("parallel_tool_calls", True) else called[:1], usage=usage)
    if asked.format == "json_object" and asked.quirks.json_object == "held":
        return ModelAnswer('{"answer": "pong"}', usage=usage)
    return ModelAnswer("pong", usage=usage)


def _to_call(asked: Asked) -> list[Mapping[str, Any]]:
    said = json.dumps(asked.messages[-1:])
    named = [tool for tool in asked.tools if tool["name"] in said]
    match asked.json.get("tool_choice", "auto") if asked.quirks.obeys_tool_choice else "auto":
        case "none":
            return []
        case "required":
            return named or asked.tools[:1]
        case {"function": {"name": forced}}:
            return [tool for tool in asked.tools if tool["name"] == forced]
    return named
