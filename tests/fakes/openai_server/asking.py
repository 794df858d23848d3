"""Requests of the official client, for the tests of the server."""

from __future__ import annotations

from typing import Any

import openai

HELLO: Any = [{"role": "user", "content": "hello"}]
LOOK: Any = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}
ONE_OF: Any = {
    "type": "json_schema",
    "json_schema": {
        "name": "action",
        "schema": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"tool": {"const": "look"}, "arguments": {"type": "object"}},
                    "required": ["tool", "arguments"],
                },
                {
                    "type": "object",
                    "properties": {"tool": {"const": "none"}, "words": {"type": "string"}},
                    "required": ["tool", "words"],
                },
            ]
        },
    },
}


async def ask(client: openai.AsyncOpenAI, **more: Any) -> Any:
    return await client.chat.completions.create(model="fake-model", **{"messages": HELLO, **more})


async def parts(client: openai.AsyncOpenAI, **more: Any) -> list[Any]:
    return [chunk async for chunk in await ask(client, stream=True, **more)]
