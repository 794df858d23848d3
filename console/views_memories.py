"""What the faces show of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from contracts import MemoryId, MemoryRecord


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory, as it stands."""

    record: MemoryRecord
    importance: float
    """By now, 0 to 1."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One thing that happened to a memory."""

    event: str
    at_version: int
    text: str
    """What it said afterwards."""
    by: str
    position: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MemoryWritten:
    """What became of something that somebody wrote down."""

    became: str
    why: str
    points: Mapping[str, int]
    least: int
    memory: MemoryRow | None = None
    other: MemoryId | None = None
    """The one that it supersedes or contradicts."""


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One memory that a search found, and why."""

    memory: MemoryRow
    score: float
    parts: Mapping[str, float]
    """What is added: `words`, `meaning`, `phrase`; `fresh` and `personal` multiply it."""
    terms: Mapping[str, float]
    """Word → its part."""
    tokens: int


@dataclass(frozen=True, slots=True)
class MemoriesFound:
    """What a search came to."""

    hits: Sequence[MemoryHit]
    candidates: int
    no_room: Sequence[MemoryId] = ()
    """Would have been among the best, and did not fit into the tokens."""
    by_words: str = ""
    """Why meaning was left aside; empty where it was not."""


@dataclass(frozen=True, slots=True)
class MemoryCycle:
    """The daily cycle, as it was held."""

    held: bool
    """False where this day had one already."""
    day: date | None = None
    looked_at: int = 0
    faded: Sequence[MemoryId] = ()
    archived: Sequence[MemoryId] = ()
    missed_days: int = 0


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories, oldest first."""

    memories: Sequence[MemoryRow]
    at: datetime
    """The moment for which their importance is told."""
    more: bool = False
    """Whether there are more behind the last one."""
