"""Looking into stored data: tools of the engine over what the step was shown by reference, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import cast

from contracts import Json, Tier
from runtime.canonical import clean, to_bytes
from runtime.capabilities.port import CapabilitySpec
from runtime.context.compress import condense
from runtime.context.inspect import DECLARATIONS, context, get_stored_data, head, outline, search, tail
from runtime.context.inspect.stored import is_whole
from runtime.engine.finish import Draft
from runtime.engine.react.condensing import Condenser
from runtime.engine.react.naming import ROLE
from runtime.engine.react.offer import OWN
from runtime.engine.react.references import original_under
from runtime.engine.react.searching import search_order
from runtime.engine.react.state import Call
from runtime.engine.react.talk import Talk
from runtime.model.port import Windowed

SPECS: Mapping[str, CapabilitySpec] = {
    name: CapabilitySpec(
        name=name, kind=OWN, description=told["function"]["description"], parameters={}, gives={},
        tier=Tier.COGNITIVE, any_tier=True, schema=told["function"]["parameters"],
    )
    for name, told in DECLARATIONS.items()
}  # fmt: skip
"""Name → declaration, the cheapest first."""

SEARCH, WHOLE = "search", "get_stored_data"
_LEAST = 500
"""Characters that a view has however many are asked for at once; in fewer, nothing can be told."""
_VIEWS: Mapping[str, Callable[[Json, Mapping[str, Json], int], str]] = {
    "outline": lambda value, given, limit: outline(value, limit=limit),
    "search": lambda value, given, limit: search(value, str(given["query"]), limit=limit),
    "context": lambda value, given, limit: context(
        value, str(given["anchor"]), _number(given, "before", 2), _number(given, "after", 2), limit=limit
    ),
    "head": lambda value, given, limit: head(value, _number(given, "n", 10), limit=limit, at=_text(given, "at")),
    "tail": lambda value, given, limit: tail(value, _number(given, "n", 10), limit=limit, at=_text(given, "at")),
}  # fmt: skip


async def look_into(talk: Talk, call: Call, name: str, arguments: Mapping[str, Json]) -> Draft:
    """Return what the tool shows of the data, bounded; none of it is stored again.

    Raises:
        ReferenceUnknown: the step was not shown that reference.
        AnchorUnknown: the data has no such place.
    """
    if name == SEARCH and not arguments.get("ref"):
        return await _search_all(talk, call, str(arguments["query"]))
    ref = str(arguments["ref"])
    value = await original_under(talk, ref, call.answer)
    began = talk.run.clock.now()
    if name in _VIEWS:
        limit = _room(talk, call)
        text = await asyncio.to_thread(_VIEWS[name], value, arguments, limit)  # two megabytes take a second or two
        return Draft({"characters": len(text)}, started_at=began, seconds=0.0, told=text)
    return await _get(talk, call, ref, value)


def _room(talk: Talk, call: Call) -> int:
    """Return the characters of one view: those that one answer asks for share a part of the model's window."""
    context, model = talk.run.context, cast(object, talk.run.model)
    if not isinstance(model, Windowed):
        return context.inspect_chars
    turn = next(turn for turn in talk.react.turns if turn.number == call.answer)
    share = int(context.views_share * model.room(ROLE)) // max(1, sum(map(talk.box.is_own, turn.calls)))
    return max(_LEAST, min(context.inspect_chars, share))


async def _search_all(talk: Talk, call: Call, query: str) -> Draft:
    began = talk.run.clock.now()
    text, refs = await search_order(talk, query, call.answer, limit=_room(talk, call))
    return Draft({"characters": len(text)}, started_at=began, seconds=0.0, told=text, refs=refs)


async def _get(talk: Talk, call: Call, ref: str, value: Json) -> Draft:
    whole_chars, began = talk.run.context.whole_chars, talk.run.clock.now()
    if is_whole(value, whole_chars=whole_chars):
        text = get_stored_data(value, whole_chars=whole_chars)
        return Draft({"characters": len(text)}, started_at=began, seconds=0.0, told=text, whole_of=ref)
    condenser = Condenser(talk, call.id)
    ask = None if talk.run.model is None else condenser.ask
    found = await condense(_text_of(value), ask, settings=talk.run.context)
    text = get_stored_data(value, whole_chars=whole_chars, condensed=found.text)
    output: dict[str, Json] = {"characters": len(text), **({"truncated": found.why} if found.why else {})}
    return Draft(
        output, started_at=began, seconds=condenser.seconds, told=text, usage=condenser.usage
    )  # fmt: skip


def _text_of(value: Json) -> str:
    return value if isinstance(value, str) else to_bytes(clean(value)).decode()


def _number(given: Mapping[str, Json], name: str, default: int) -> int:
    value = given.get(name)
    assert value is None or isinstance(value, int | float)  # by its schema, to which 2.0 is an integer too
    return default if value is None else int(value)


def _text(given: Mapping[str, Json], name: str) -> str:
    value = given.get(name)
    return "" if value is None else str(value)
