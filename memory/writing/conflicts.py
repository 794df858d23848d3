"""What happens when something new contradicts what is remembered.

Two memories contradict each other only where both say what they are about: the same holder, domain, subject and
relation, with another value. Likeness of words is no contradiction.

| what is known | settled by |
|---|---|
| preference, task, session, other | time: the newer one holds |
| fact that the same one said before | time: whoever said it says otherwise now |
| fact | time × confidence: the newer one, unless it weighs less; then it waits, and overtakes once it weighs more |
| decision, rule | a person |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts import MemoryClass, MemoryRecord
from memory.records.decay import days_between
from memory.records.port import MemoryDraft
from runtime.search import plain
from runtime.settings import MemorySettings

_BY_PERSON = frozenset({MemoryClass.DECISION, MemoryClass.RULE})


class Settled(StrEnum):
    """How a contradiction ends."""

    NEWER = "newer"
    """The new one holds, the old one is superseded."""
    WAITS = "waits"
    """The new one is kept as disputed: it weighs less."""
    ASKS = "asks"
    """The new one is kept as disputed until a person decides."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What is known that a draft contradicts, and how that ends."""

    known: MemoryRecord
    settled: Settled
    why: str


def contradiction(
    draft: MemoryDraft, about: Sequence[MemoryRecord], *, by: str, now: datetime, settings: MemorySettings
) -> Contradiction | None:
    """Return what a draft of `by` contradicts among the active records about the same; None where it does not."""
    known = next((record for record in about if differs(draft.value, record.value)), None)
    if known is None:
        return None
    if known.memory_class in _BY_PERSON or draft.memory_class in _BY_PERSON:
        return Contradiction(known, Settled.ASKS, f"{known.memory_id} is a key {known.memory_class.value}")
    if known.memory_class is not MemoryClass.FACT:
        return Contradiction(known, Settled.NEWER, "it is newer")
    if known.written_by == by:
        return Contradiction(known, Settled.NEWER, f"{by} said the other as well")
    old, new = weight(known, now, settings), draft.confidence
    if new >= old:
        return Contradiction(known, Settled.NEWER, f"it weighs {new:.2f}, and what was known {old:.2f}")
    return Contradiction(known, Settled.WAITS, f"it weighs {new:.2f}, and what is known {old:.2f}")


def agrees(new: str | None, known: str | None) -> bool:
    """Whether two values say the same."""
    return bool(new and known) and _plainly(new) == _plainly(known)


def differs(new: str | None, known: str | None) -> bool:
    """Whether two values say different things; where one says none, nobody can tell."""
    return bool(new and known) and _plainly(new) != _plainly(known)


def weight(record: MemoryRecord, now: datetime, settings: MemorySettings) -> float:
    """Return time × confidence of a fact: half of its confidence counts after `fact_trust_half_life_days`."""
    days = days_between(record.accessed_at, now)
    return float(record.confidence * 0.5 ** (days / settings.fact_trust_half_life_days))


def _plainly(text: str | None) -> str:
    return " ".join(plain(text or "").split()).rstrip(".。!！")
