"""Finding out what an endpoint really does: a few small requests, each of which asks for one thing and looks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

from runtime.errors import CapabilityFailed, NetworkFault
from runtime.model.answers import Assembly, Raw, raw_of
from runtime.model.endpoint import Endpoint
from runtime.model.errors import HUNG_UP, ModelRefused
from runtime.model.profile import Profile

MOST_TOKENS = 256
"""Of each answer: enough for a model that thinks before it speaks."""
_CONTEXT_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx", "n_ctx_train")
"""Under which names servers tell how much a request may hold, the most exact first."""
_BROKEN = (500, 501)
"""Status of a fault of its own, by which some endpoints refuse; 502 to 504 say that it is away or overloaded."""
_NUMBER = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}
_WORD = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": ["seventeen"]}},
    "required": ["word"],
    "additionalProperties": False,
}


Room: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
"""Lets one request begin when there is room for it, and holds the room as long as it goes on."""


async def probe(endpoint: Endpoint, model: str, *, room: Room = nullcontext) -> Profile:
    """Return what the endpoint supports for the model.

    Six requests of under a hundred tokens each, and some more where it refuses or hangs up. What is refused, or
    accepted and passed over, counts as not supported.

    Raises:
        NetworkFault, ModelAccessRefused, ModelStalled: the endpoint cannot be asked at all.
        ModelRefused: it does not have the model, or refuses the plainest request.
    """
    ask = _Asking(endpoint, model, room)
    plain = await ask.plain()
    parts = (ask.tools(), ask.schema(), ask.stream(), ask.developer(), ask.context())
    native, schema, stream, developer, context = await _all_or_none(*parts)
    found = Profile(json_schema=schema, developer=developer, context_tokens=context)
    return replace(found, **plain, **native, **stream)


class _Asking:
    """One model of one endpoint, asked for one thing after the other."""

    def __init__(self, endpoint: Endpoint, model: str, room: Room = nullcontext) -> None:
        self._endpoint = endpoint
        self._model = model
        self._room = room
        self._limit = "max_tokens"

    async def plain(self) -> dict[str, bool]:
        """Return by which name an answer is limited and whether a temperature is taken; raise when nothing helps."""
        refusal: ModelRefused | None = None
        for limit, temperature in product(("max_tokens", "max_completion_tokens"), (True, False)):
            self._limit = limit
            try:
                await self._whole("Say hello.", **({"temperature": 0.3} if temperature else {}))
            except ModelRefused as error:
                if error.facts.get("status") == 404:
                    raise
                refusal = refusal or error
                continue
            return {"max_completion_tokens": limit == "max_completion_tokens", "temperature": temperature}
        assert refusal is not None
        raise refusal

    async def tools(self) -> dict[str, bool]:
        """Whether tools are called, may be strict, several at once and of our choice."""
        tools = [_tool("report_number"), _tool("report_age")]
        whole = {"tools": tools, "tool_choice": _choice("report_age")}
        strict = {**whole, "tools": [_strict(each) for each in tools], "parallel_tool_calls": True}
        words = "Report the number 17 with the tool report_number."  # and not with the one that we choose
        answer = await self._try(words, **strict)
        if answer is not None:
            found = self._called(answer)
            if found:
                return {"tools": True, "strict": True, "parallel": True, "must_call": found == {"report_age"}}
        answer = await self._try(words, **whole)
        found = self._called(answer) if answer is not None else set()
        if not found:
            answer = await self._try(words, tools=tools)
            found = self._called(answer) if answer is not None else set()
            return {"tools": bool(found), "strict": False, "parallel": False, "must_call": False}
        return {"tools": True, "strict": False, "parallel": False, "must_call": found == {"report_age"}}

    async def schema(self) -> bool:
        """Whether an answer is held to a schema that the words do not ask for."""
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": _WORD, "strict": True}}
        answer = await self._try("Say hello.", response_format=wanted)
        if answer is None:
            return False
        try:
            return bool(json.loads(answer.content) == {"word": "seventeen"})
        except ValueError:
            return False

    async def stream(self) -> dict[str, bool]:
        """Whether an answer comes in parts, up to an end that says why, and tells what it took."""
        for options in ({"stream_options": {"include_usage": True}}, {}):
            raw = await self._unless_refused(partial(self._streamed, **options))
            if raw is not None and (raw.content or raw.reasoning) and raw.finish_reason is not None:
                return {"streams": True, "stream_usage": bool(raw.usage)}
        return {"streams": False, "stream_usage": False}

    async def developer(self) -> bool:
        """Whether instructions may come under the role `developer`."""
        messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Say hello."}]
        return await self._try("", messages=messages) is not None

    async def context(self) -> int | None:
        """Return how many tokens a request and its answer may have, where the endpoint tells."""
        try:
            async with self._room():
                listed = await self._endpoint.models()
        except CapabilityFailed:
            return None
        mine = [each for each in listed if each.get("id") == self._model] or (listed if len(listed) == 1 else [])
        for each in mine:
            meta = each.get("meta")
            places = [each, meta] if isinstance(meta, Mapping) else [each]
            for name in _CONTEXT_NAMES:
                for place in places:
                    told = place.get(name)
                    if isinstance(told, int) and told > 0:
                        return told
        return None

    async def _try(self, words: str, **more: Any) -> Raw | None:
        """Return the answer, or None where the endpoint refuses what the request asks for."""
        return await self._unless_refused(partial(self._whole, words, **more))

    async def _unless_refused(self, ask: Callable[[], Awaitable[Raw]]) -> Raw | None:
        """Return what is answered, or None where the endpoint refuses: in words, or by hanging up.

        To hang up looks like being away. It is a refusal where it happens twice, and the plainest request is answered
        after each time; else the endpoint is away, and that is raised.
        """
        for _ in range(2):
            try:
                return await ask()
            except (ModelRefused, NetworkFault) as error:
                if _refuses(error):
                    return None
                if error.facts.get(HUNG_UP) is not True:
                    raise
            await self._whole("Say hello.")
        return None

    async def _whole(self, words: str, **more: Any) -> Raw:
        async with self._room():
            return raw_of(await self._endpoint.complete(self._body(words, **more)))

    async def _streamed(self, **options: Any) -> Raw:
        assembly = Assembly()
        async with self._room():
            async for part in self._endpoint.stream(self._body("Say hello.", stream=True, **options)):
                assembly.take(part)
        return assembly.whole()

    def _body(self, words: str, **more: Any) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": words}],
            self._limit: MOST_TOKENS,
            **more,
        }

    def _called(self, raw: Raw) -> set[str]:
        return {call.name for call in raw.calls}


async def _all_or_none(*parts: Coroutine[Any, Any, Any]) -> list[Any]:
    """Return what all gave; when one fails no other goes on, and its error is raised."""
    asking = [asyncio.ensure_future(part) for part in parts]
    try:
        return list(await asyncio.gather(*asking))
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def _refuses(error: ModelRefused | NetworkFault) -> bool:
    """Whether the endpoint does not take what was asked for; what passes by itself says nothing about it.

    A fault of its own is how some refuse: 500. Being busy or away would be remembered for ever as a lack; of hanging up
    `_unless_refused` judges.
    """
    return isinstance(error, ModelRefused) or error.facts.get("status") in _BROKEN


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "Reports a number.", "parameters": _NUMBER}}


def _strict(tool: dict[str, Any]) -> dict[str, Any]:
    return {**tool, "function": {**tool["function"], "strict": True}}


def _choice(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}
