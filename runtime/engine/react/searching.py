"""Searching all that an order has, when a model knows a fact and not where it stands: one call reaches all of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts import Event, Json
from runtime.canonical import to_text
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
    value: Json = None
    """Empty where it stands in the blob store."""
    ref: str = ""
    """Under which the whole can be looked into; empty for what is told whole here."""


@dataclass(slots=True)
class _Found:
    """What is told so far, within its room."""

    room: int
    lines: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)

    def take(self, place: _Place, told: str) -> bool:
        """Take in what was found at a place; return whether there was room for it."""
        head = f"## {place.name}" + (f", ref {place.ref}" if place.ref else "")
        self.room -= len(head) + len(told) + 2
        if self.room < 0 and self.lines:
            return False
        self.lines += [head, told]
        self.refs += [place.ref] if place.ref else []
        return True


async def search_order(talk: Talk, query: str, answer: int, *, limit: int) -> tuple[str, tuple[str, ...]]:
    """Return where a query stands in what the order has lately, and the references that this told, newest places first.

    All of it is the order's own: its stream, and what its events name in the blob store. One place at a time is in
    memory, and no more of them are read than there is room to tell of.

    Args:
        answer: of the model that asks; what came after it is not looked at, so that it finds the same after any stop.
        limit: characters of what is told at most.
    """
    events = _before(await talk.run.ledger.read(talk.run.journal.stream), talk.event(answer=answer))
    places = [_Place(*each) for event in events for each in _told_by(event.type, event.data or {})]
    newest = places[: -_LOOKED - 1 : -1]
    for looked, look in ((newest, _as_it_is), (newest[:_WORDED], _by_words)):
        found = _Found(limit)
        for place in looked:
            told = await asyncio.to_thread(look, await _text_of(talk, place), query)
            if told and not found.take(place, told):
                break
        if found.lines:
            return packed(found.lines, limit), tuple(dict.fromkeys(found.refs))
    where = "this order has" if len(places) <= _LOOKED else f"the newest {_LOOKED:,} places of this order have"
    return f"Nothing of {query.strip()[:80]!r} stands in what {where}.", ()


def _before(events: Sequence[Event], asked: Mapping[str, Any]) -> Sequence[Event]:
    """Return the events before that answer of a model; all of them where it was erased."""
    for number in range(len(events) - 1, -1, -1):
        data = events[number].data or {}
        if events[number].type == "model.answered" and all(data.get(name) == value for name, value in asked.items()):
            return events[:number]
    return events


def _as_it_is(text: str, query: str) -> str:
    """Return where the query stands in a value as it is written; empty where it does not."""
    wanted = query.strip().casefold()
    if not wanted:
        return ""
    value: Json = json.loads(text) if text.startswith('"') else None  # only a text is written otherwise than it is
    if wanted not in (value if isinstance(value, str) else text).casefold():
        return ""
    return search(json.loads(text), query, limit=_EACH)


def _by_words(text: str, query: str) -> str:
    told = search(json.loads(text), query, limit=_EACH)
    return "" if told.startswith("Nothing of") else told


async def _text_of(talk: Talk, place: _Place) -> str:
    """Return the canonical text of what stands at a place."""
    return (await talk.run.blobs.get(place.ref)).decode() if place.ref else to_text({"": place.value})[4:-1]


def _told_by(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[str, Json, str]]:
    """Yield what an event tells that may be searched: its name, the value, or the reference under which that stands.

    Args:
        data: of the event; empty where it was erased.
    """
    step = data.get("step", "")
    if kind in ("step.finished", "call.finished") and not data.get("members"):
        name = f"step {step}" + (f", what {data.get('use')} gave" if kind == "call.finished" else ", its result")
        ref = data.get("output_sha256") or data.get("given_sha256")
        if ref is not None or data.get("output") is not None:
            yield name, data.get("output"), ref or ""
    elif kind == "model.answered" and data.get("content"):
        yield f"step {step}, answer {data['answer']} of its model", data["content"], ""
    elif kind == "insight.noted" and data:
        yield f"noted in step {data['by']['step']}", data["text"], ""
