"""What a memory book promises; `tests/memory/records` says it in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from contracts import MemoryClass, MemoryHolder, MemoryId, MemoryKind, MemoryRecord, MemorySource, MemoryState, Name


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """What is to be remembered."""

    text: str
    kind: MemoryKind
    memory_class: MemoryClass
    holder: MemoryHolder
    importance: float = 0.5
    confidence: float = 0.5
    subject: str | None = None
    relation: str | None = None
    value: str | None = None
    domain: Name | None = None
    project: Name | None = None
    session: str | None = None
    intent: str | None = None
    entities: tuple[str, ...] = ()
    source: MemorySource = field(default_factory=MemorySource)
    valid_from: datetime | None = None
    """UTC; absent: now."""
    memory_id: MemoryId | None = None
    """The name it gets, where whoever writes it may have to write it again after a crash; absent: a fresh one."""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which records; a field that is empty leaves all in."""

    states: Sequence[MemoryState] = (MemoryState.ACTIVE,)
    kinds: Sequence[MemoryKind] = ()
    classes: Sequence[MemoryClass] = ()
    holders: Sequence[MemoryHolder] = ()
    domains: Sequence[Name] = ()
    """Those of these domains, and those of none. Empty means no domain is asked for: only those of none, unless
    `every_domain`."""
    every_domain: bool = False
    """For people who look after memories; never for a prompt."""
    projects: Sequence[Name] = ()
    sessions: Sequence[str] = ()
    intents: Sequence[str] = ()
    entities: Sequence[str] = ()
    """Those with at least one of these."""
    since: datetime | None = None
    """UTC; those that were written from then on."""
    until: datetime | None = None
    """UTC; those that were written before."""


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One thing that happened to a record."""

    record: MemoryRecord
    """As it stood afterwards."""
    event: str
    """What happened: `memory.written`, …"""
    position: int
    """Of the event in the ledger."""
    by: str
    """Who did it."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened to records since a position, for whoever keeps something made of them."""

    records: Sequence[MemoryRecord]
    """As they stand now, each once, whatever their state; those that were erased are in `gone`."""
    gone: Sequence[MemoryId]
    position: int
    """What is asked for next time."""
    complete: bool = True
    """Whether that is all; else there is more behind the position."""


class Memories(Protocol):
    """The records of one organisation. Every change is an event in the record's own stream (`memory/01J9…`)."""

    async def add(
        self, draft: MemoryDraft, *, by: str, supersedes: MemoryId | None = None, disputes: MemoryId | None = None
    ) -> MemoryRecord:
        """Store a record as it is; with `supersedes`, that one is superseded in the same commit.

        With `disputes` it contradicts that one, which stays: the new one waits for a person (`confirm`, `withdraw`).

        This judges nothing: whether something is worth remembering, said already or contradicts something, is decided
        by `memory.writing` before.

        Raises:
            NotFound: there is no such record to supersede.
            VersionConflict: a record of this name is there already.
            MemoryPast: that one is not active any more.
        """
        ...

    async def add_many(self, drafts: Sequence[MemoryDraft], *, by: str) -> list[MemoryRecord]:
        """Store many records in few commits, as `add` does."""
        ...

    async def get(self, memory_id: MemoryId) -> MemoryRecord:
        """Return a record as it stands; raise NotFound for one that never was here."""
        ...

    async def get_all(self, memory_ids: Sequence[MemoryId]) -> Mapping[MemoryId, MemoryRecord]:
        """Return those of these records whose words are there, as they stood when `changes` was last asked."""
        ...

    async def history(self, memory_id: MemoryId) -> list[MemoryVersion]:
        """Return what happened to a record, oldest first; raise NotFound."""
        ...

    async def find(
        self, which: MemoryFilter, *, after: MemoryId | None = None, limit: int | None = None
    ) -> list[MemoryRecord]:
        """Return records, oldest first, those made after `after`; up to date with every commit of any process."""
        ...

    async def about(self, holder: MemoryHolder, domain: Name | None, subject: str, relation: str) -> list[MemoryRecord]:
        """Return the active and disputed records of a holder and domain with this subject and relation.

        They are compared plainly: without differences of case, width and blanks.
        """
        ...

    async def saying(self, holder: MemoryHolder, domain: Name | None, text: str) -> list[MemoryRecord]:
        """Return the active and disputed records of a holder and domain whose text is the same, plainly compared."""
        ...

    async def changes(self, *, after: int = 0, limit: int = 2_000) -> Changes:
        """Return what changed at positions after `after`; a reader that goes on from `position` misses nothing."""
        ...

    async def correct(
        self, memory_id: MemoryId, changed: Mapping[str, object], *, by: str, version: int, reason: str = ""
    ) -> MemoryRecord:
        """Write a new version of what a record says: any of the fields of MemoryDraft.

        Raises:
            VersionConflict: the record has another version by now.
            MemoryPast: it is erased.
        """
        ...

    async def reinforce(self, memory_id: MemoryId, *, source: MemorySource, by: str) -> MemoryRecord:
        """Note that the same was said again: importance as if read, confidence nearer to 1.

        The same turn or order counts once, however often it is told; what a person wrote down by hand always counts.
        """
        ...

    async def note_read(self, memory_ids: Sequence[MemoryId], *, by: str) -> None:
        """Note that records were read through a search: importance × 1.05 and no more than 1, counted from now.

        One that is not active any more is passed over.
        """
        ...

    async def confirm(self, memory_id: MemoryId, *, by: str, supersedes: MemoryId | None = None) -> MemoryRecord:
        """Let a disputed record hold from now on, and in the same commit supersede the one that it contradicts.

        Where something else took the place of that one meanwhile, it is that which is superseded; where nothing
        holds there any more, nothing.
        """
        ...

    async def supersede(self, memory_id: MemoryId, *, newer: MemoryId, by: str, reason: str = "") -> None:
        """Say that another record holds in the place of this one, from now on."""
        ...

    async def undo(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Take the newest change back: a correction, a supersession, an archiving, a withdrawal.

        What a supersession put in its place is withdrawn in the same commit.

        Raises:
            MemoryPast: there is nothing to take back, it was erased, or what superseded it was itself superseded.
        """
        ...

    async def withdraw(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Forget a record so that it can be restored; raise MemoryPast."""
        ...

    async def archive(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Put a record away; raise MemoryPast."""
        ...

    async def restore(self, memory_id: MemoryId, *, by: str, reason: str = "") -> MemoryRecord:
        """Bring back what was archived or withdrawn, as important as it was when last read; raise MemoryPast.

        What it had superseded, or what holds there by now, is superseded again in the same commit; one that
        contradicts something and was never decided waits for a decision again.
        """
        ...

    async def erase(self, memory_id: MemoryId, *, by: str, reason: str) -> None:
        """Remove the words of every version of a record for good; that it was there, and when, stays."""
        ...
