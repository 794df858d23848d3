"""A thousand turns with known truth: what of small talk, repeats, contradictions and recalled text is remembered.

Made from a seed. Of every ten turns of the person about six are small talk or questions, one states something new (in
one of several wordings, a quarter of them wordings that no pattern was written for), one says again what was said, one
contradicts what was said with a new value, one repeats what it was just shown. Between them stand turns of the employee
that restate what is known, and heartbeats of the system.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rig  # noqa: F401 - from then on `memory` is the package, and not the bench beside this file

from contracts import HolderKind, MemoryHolder
from memory.conversations import STARTED, TURN
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from memory.writing.turns import TurnReader
from memory.writing.writer import MemoryWriter
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings, MemorySettings

ORGANISATION, PERSON = "bench", "ann"
THINGS = [
    f"{what} {where}" for what in ("gate", "depot", "dock", "office", "lot") for where in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
]
PLACES = ("Lisbon", "Oslo", "Izmir", "Quito", "Leeds", "Graz", "Turku", "Bergen", "Porto", "Ghent", "Basel", "Riga")
KNOWN = ("Our {s} is in {v}.", "The {s} was moved to {v}.", "My {s} is in {v}.")
UNKNOWN = ("You find {s} in {v} by now.", "As of today people of {s} sit in {v}.")
"""Wordings that no pattern was written for."""
TALK = (
    "Hello!", "Thanks, that helps.", "How is the weather today?", "I am not sure about that.", "What comes next?",
    "It was a long day.", "Could you look again?", "Good morning.", "Hm, interesting.", "Never mind.",
)  # fmt: skip


@dataclass
class Truth:
    """What holds, and what was said of it."""

    now: dict[str, str] = field(default_factory=dict)
    """Subject → its value."""
    stated: int = 0
    changed: int = 0
    unknown_form: set[str] = field(default_factory=set)


def turns(count: int, seed: int = 3) -> tuple[list[dict[str, Any]], Truth]:
    """Return so many turns, and what is true after them."""
    chance, truth = random.Random(seed), Truth()
    return list(_turns(chance, count, truth)), truth


def _turns(chance: random.Random, count: int, truth: Truth) -> Iterator[dict[str, Any]]:
    fresh = iter(chance.sample(THINGS, len(THINGS)))
    for number in range(1, count + 1):
        told = {"turn": number, "speaker": "person", "recalled": []}
        roll = chance.random()
        if number % 7 == 0:
            yield {**told, "speaker": "system", "text": "Heartbeat: our status is in order."}
        elif number % 5 == 0 and truth.now:
            subject = chance.choice(list(truth.now))
            yield {**told, "speaker": "employee", "text": f"As I know, our {subject} is in {truth.now[subject]}."}
        elif roll < 0.6 or (not truth.now and roll >= 0.7):
            yield {**told, "text": chance.choice(TALK)}
        elif roll < 0.7:
            yield {**told, "text": _new(chance, next(fresh, "gate Z9"), truth)}
        elif roll < 0.8:
            subject = chance.choice(list(truth.now))
            yield {**told, "text": f"Our {subject} is in {truth.now[subject]}."}
        elif roll < 0.9:
            yield {**told, "text": _changed(chance, chance.choice(list(truth.now)), truth)}
        else:
            subject = chance.choice(list(truth.now))
            shown = f"The {subject} of the company is in {truth.now[subject]}, people say."
            yield {**told, "text": f"Remember: {shown}", "recalled": [shown]}


def _new(chance: random.Random, subject: str, truth: Truth) -> str:
    value = chance.choice(PLACES)
    if chance.random() < 0.25:
        truth.unknown_form.add(subject)
        return chance.choice(UNKNOWN).format(s=subject, v=value)
    truth.now[subject] = value
    truth.stated += 1
    return chance.choice(KNOWN).format(s=subject, v=value)


def _changed(chance: random.Random, subject: str, truth: Truth) -> str:
    value = chance.choice([place for place in PLACES if place != truth.now[subject]])
    truth.now[subject] = value
    truth.changed += 1
    return chance.choice(KNOWN).format(s=subject, v=value)


async def stream(folder: Path, count: int = 1_000) -> dict[str, Any]:
    """Let the turns be read; return what came of them."""
    told, truth = turns(count)
    clock, settings = SystemClock(), MemorySettings()
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=Path(tempfile.mkdtemp(dir=folder)), clock=clock)
    try:
        book = MemoryBook(store, ORGANISATION, clock=clock, settings=settings)
        reader = TurnReader(MemoryWriter(book, clock, settings), store.ledger, ORGANISATION, settings)
        events = [NewEvent(STARTED, {"person": PERSON, "employee": "head"}), *(NewEvent(TURN, each) for each in told)]
        for start in range(0, len(events), 500):
            part = events[start : start + 500]
            await store.ledger.append(Append("conversation/bench", part, start, ORGANISATION, "/bench"))
        await reader.catch_up()
        which = MemoryFilter(holders=[MemoryHolder(kind=HolderKind.PERSON, name=PERSON)], every_domain=True)
        kept = await book.find(which)
        recall = MemoryRecall(book, settings)
        stale = 0
        for subject, value in truth.now.items():
            hits = (await recall.search(f"where is {subject}", which, now=clock.now())).hits
            stale += any(hit.record.subject == subject and hit.record.value != value for hit in hits)
    finally:
        await store.close()
    right = [record for record in kept if record.subject and truth.now.get(record.subject) == record.value]
    whole = len(truth.now) + len(truth.unknown_form)
    return {
        "turns": count, "true_facts": whole, "changes": truth.changed, "kept": len(kept),
        "precision": round(len(right) / max(len(kept), 1), 4), "recall": round(len(right) / max(whole, 1), 4),
        "recall_of_known_forms": round(len({record.subject for record in right}) / max(len(truth.now), 1), 4),
        "stale_recalled": stale,
    }  # fmt: skip
