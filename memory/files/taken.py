"""What became of the files that a person edited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from contracts import MemoryId


class Became(StrEnum):
    """What became of an entry."""

    CHANGED = "changed"
    """A new version."""
    ADDED = "added"
    """A new memory."""
    REPLACES = "replaces"
    """A new memory, in the place of an older one that says otherwise."""
    DISPUTED = "disputed"
    """A new memory that waits for a person: it contradicts what weighs more, or a decision."""
    KNOWN = "known"
    """Remembered already; nothing was changed."""
    MISSING = "missing"
    """No file has it any more; nothing was changed."""
    WITHDRAWN = "withdrawn"
    """No file has it any more, and it was withdrawn."""
    CONFLICT = "conflict"
    """The memory is another one by now than the person saw; nothing was changed."""
    FAULT = "fault"
    """It cannot be taken in; nothing was changed."""


REFUSED = frozenset({Became.CONFLICT, Became.FAULT})


@dataclass(frozen=True, slots=True)
class Taken:
    """One entry, and what became of it; those that nobody edited are only counted."""

    became: Became
    file: str
    """Below the organisation's folder."""
    line: int
    """From 1; 0 for what stands in no file."""
    memory_id: MemoryId | None = None
    why: str = ""
    edited: str = ""
    """What the file says."""
    stands: str = ""
    """What the memory says."""


@dataclass(slots=True)
class Imported:
    """Everything that became of the files."""

    entries: list[Taken] = field(default_factory=list)
    untouched: int = 0

    def of(self, *became: Became) -> list[Taken]:
        """Return the entries that became one of these."""
        return [each for each in self.entries if each.became in became]

    @property
    def refused(self) -> list[Taken]:
        """Those that were not taken in, as a person has to see to them."""
        return self.of(*REFUSED)

    def add(self, *entries: Taken) -> None:
        """Take notice of some."""
        self.entries.extend(entries)

    def extend(self, entries: Iterable[Taken]) -> None:
        """Take notice of many."""
        self.entries.extend(entries)
