"""The form of auto memory: lines under four themes, each with the memories that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts import Json, MemoryClass, MemoryId, MemoryKind, MemoryRecord
from memory.records.decay import importance_now, may_be_injected
from runtime.settings import MemorySettings

LONGEST = 400
"""Characters of a line; a search gives the whole memory."""


class Theme(StrEnum):
    """What a line is about, in the order in which they are told."""

    PREFERENCES = "Preferences"
    CONVENTIONS = "Conventions"
    """How things are done here: rules, and what works."""
    ENVIRONMENT = "Environment"
    """What is so: facts, work that goes on."""
    DECISIONS = "Decisions"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is told."""

    theme: Theme
    text: str
    sources: Mapping[MemoryId, int]
    """Memory → the version that was read. A line rests on all of them: once one says something else, it is gone."""

    def to_json(self) -> Json:
        """Return it as an event keeps it."""
        sources: dict[str, Json] = {str(each): version for each, version in self.sources.items()}
        return {"theme": self.theme.value, "text": self.text, "sources": sources}

    @classmethod
    def read(cls, told: Mapping[str, Json]) -> Line:
        """Return the line of an event."""
        sources = told["sources"]
        assert isinstance(sources, Mapping)
        versions = {MemoryId(str(each)): int(str(version)) for each, version in sources.items()}
        return cls(Theme(str(told["theme"])), str(told["text"]), versions)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A line and how important it is by now."""

    line: Line
    importance: float


def theme_of(record: MemoryRecord) -> Theme:
    """Return under what a memory is told."""
    if record.memory_class is MemoryClass.PREFERENCE:
        return Theme.PREFERENCES
    if record.memory_class is MemoryClass.DECISION:
        return Theme.DECISIONS
    if record.memory_class is MemoryClass.RULE or record.kind is MemoryKind.PROCEDURAL:
        return Theme.CONVENTIONS
    return Theme.ENVIRONMENT


def may_be_told(record: MemoryRecord, now: datetime, settings: MemorySettings) -> bool:
    """Whether a memory may stand in auto memory: never what belongs to one conversation, nor what has faded."""
    if record.kind is MemoryKind.WORKING or record.memory_class is MemoryClass.SESSION:
        return False
    ended = record.valid_until is not None and record.valid_until <= now
    return not ended and record.valid_from <= now and may_be_injected(record, now, settings)


def as_line(record: MemoryRecord) -> Line:
    """Return a memory in its own words; what must hold is told whole, anything else up to `LONGEST` characters."""
    text = " ".join(record.text.split())
    whole = record.memory_class in (MemoryClass.RULE, MemoryClass.DECISION) or len(text) <= LONGEST
    return Line(theme_of(record), text if whole else f"{text[: LONGEST - 1].rstrip()}…", _version_of(record))


def current(
    lines: Iterable[Line], records: Mapping[MemoryId, MemoryRecord], now: datetime, settings: MemorySettings
) -> tuple[list[Weighed], list[MemoryRecord]]:
    """Return the lines that still hold, and the memories of which no line tells, most important first.

    A line holds while each memory that it rests on holds in the version that was read, and one of them at least has not
    faded. What else it rested on is told in its own words again.

    Args:
        records: what may be told by now (`may_be_told`).
    """
    kept: list[Weighed] = []
    covered: set[MemoryId] = set()
    for line in lines:
        there = [records[each] for each, version in line.sources.items() if _is(records.get(each), version)]
        if len(there) == len(line.sources):
            covered.update(line.sources)
            kept.append(Weighed(line, max(importance_now(each, now, settings) for each in there)))
    return kept, by_importance((each for each in records.values() if each.memory_id not in covered), now, settings)


def by_importance(records: Iterable[MemoryRecord], now: datetime, settings: MemorySettings) -> list[MemoryRecord]:
    """Return memories by falling importance, what never fades for being a rule first."""
    return sorted(
        records,
        key=lambda each: (
            each.memory_class is not MemoryClass.RULE, -importance_now(each, now, settings), each.memory_id,
        ),
    )  # fmt: skip


def within(weighed: Iterable[Weighed], most: int) -> tuple[list[Weighed], int]:
    """Return the most important lines that fit into so many characters of a page, and how many were left out."""
    room = most - sum(len(theme.value) + 5 for theme in Theme)
    kept: list[Weighed] = []
    left_out = 0
    for each in sorted(weighed, key=lambda each: (-each.importance, each.line.text)):
        size = len(each.line.text) + 3
        if size > room:
            left_out += 1
            continue
        room -= size
        kept.append(each)
    return kept, left_out


def page(weighed: Sequence[Weighed]) -> str:
    """Return lines as a page: a heading for each theme that has some, the most important line first."""
    parts = []
    for theme in Theme:
        told = [each for each in weighed if each.line.theme is theme]
        if told:
            parts.append("\n".join([f"## {theme.value}", *(f"- {each.line.text}" for each in told)]))
    return "\n\n".join(parts)


def _version_of(record: MemoryRecord) -> Mapping[MemoryId, int]:
    return {record.memory_id: record.version}


def _is(record: MemoryRecord | None, version: int) -> bool:
    return record is not None and record.version == version
