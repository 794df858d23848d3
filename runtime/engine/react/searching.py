"""Searching all that an order has, when a model knows a fact and not where it stands: one call reaches all of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contracts import Event, Json
from runtime.canonical import clean, to_text
from runtime.context.bounds import packed
from runtime.context.inspect import search
from runtime.engine.react.talk import Talk

_EACH = 400
"""Characters that one place of the order tells of what was found in it."""
_LOOKED = 2_000
"""Places that are looked at, the newest of them: so many are read within a second or two."""
_WORDED = 200
"""Places that are looked through for single words, the newest first, where the query stands nowhere as it is."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One thing that the order has: a result, an answer of a model, something it noted."""

    name: str
    value: Json
    ref: str = ""
    """Under which the whole can be looked into; empty for what is told whole here."""


async def search_order(talk: Talk, query: str) -> tuple[str, tuple[str, ...]]:
    """Return where a query stands in what the order has lately, and the references that this told, newest places first.

    All of it is the order's own: its stream, and what its events name in the blob store.
    """
    events = await talk.run.ledger.read(talk.run.journal.stream)
    places = [place async for place in _places(talk, events)]
    return await asyncio.to_thread(_found, places, query, talk.run.context.inspect_chars)


def _found(places: Sequence[_Place], query: str, limit: int) -> tuple[str, tuple[str, ...]]:
    wanted, newest = query.strip().casefold(), list(reversed(places))
    exact = [place for place in newest if wanted and wanted in _text_of(place.value).casefold()]
    looked = exact or newest[:_WORDED]
    lines: list[str] = []
    refs: list[str] = []
    room = limit
    for place in looked:
        told = search(place.value, query, limit=_EACH)
        if not exact and _is_nothing(told):
            continue
        head = f"## {place.name}" + (f", ref {place.ref}" if place.ref else "")
        room -= len(head) + len(told) + 2
        if room < 0:
            break
        lines += [head, told]
        refs += [place.ref] if place.ref else []
    if not lines:
        return f"Nothing of {query.strip()[:80]!r} stands in what this order has.", ()
    return packed(lines, limit), tuple(dict.fromkeys(refs))


def _is_nothing(told: str) -> bool:
    return told.startswith("Nothing of")


def _text_of(value: Json) -> str:
    return value if isinstance(value, str) else to_text({"": value})


async def _places(talk: Talk, events: Sequence[Event]) -> AsyncIterator[_Place]:
    told = [each for event in events for each in _told_by(event.type, event.data or {})]
    for name, value, ref in told[-_LOOKED:]:
        yield _Place(name, value if ref is None else await _stored(talk, ref), ref or "")


def _told_by(kind: str, data: Any) -> Iterator[tuple[str, Json, str | None]]:
    """Yield what an event tells that may be searched: its name, the value, or the reference under which that stands."""
    step = data.get("step", "")
    if kind in ("step.finished", "call.finished") and not data.get("members"):
        name = f"step {step}" + (f", what {data.get('use')} gave" if kind == "call.finished" else ", its result")
        ref = data.get("output_sha256") or data.get("given_sha256")
        if ref is not None or data.get("output") is not None:
            yield name, data.get("output"), ref
    elif kind == "model.answered" and data.get("content"):
        yield f"step {step}, answer {data['answer']} of its model", data["content"], None
    elif kind == "insight.noted":
        yield f"noted in step {data['by']['step']}", data["text"], None


async def _stored(talk: Talk, ref: str) -> Json:
    return clean(json.loads(await talk.run.blobs.get(ref)))
