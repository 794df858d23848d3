"""Writes what is worth remembering: judged, not said before, and in peace with what is known.

| what is said | what becomes of it |
|---|---|
| has no source | refused |
| too few points | left alone |
| repeats what was shown to whoever says it | left alone |
| is known, in the same words or as the same value | reinforces that record |
| contradicts what is known | settled by `conflicts` |
| anything else | a record of its own |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts import MemoryId, MemoryRecord, MemorySource, MemoryState
from memory.records.port import Memories, MemoryDraft
from memory.writing.conflicts import Settled, agrees, contradiction
from memory.writing.novelty import repeats
from memory.writing.policy import Feature, Judgement, judge
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.settings import MemorySettings


class Became(StrEnum):
    """What became of something that was said."""

    WRITTEN = "written"
    REINFORCED = "reinforced"
    SUPERSEDES = "supersedes"
    """Written in the place of an older one."""
    DISPUTED = "disputed"
    """Written, and waits: it contradicts what weighs more, or a key decision."""
    LEFT = "left"
    """Not worth remembering."""
    SHOWN_BEFORE = "shown_before"
    """It repeats a memory, or words of the product, that whoever says it was shown."""
    THERE = "there"
    """It was written already, by the same name."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of something that was said, and why."""

    became: Became
    why: str
    judgement: Judgement
    record: MemoryRecord | None = None
    other: MemoryId | None = None
    """The one that it supersedes or contradicts."""


class MemoryWriter:
    """Writes into the memories of one organisation."""

    def __init__(self, memories: Memories, clock: Clock, settings: MemorySettings) -> None:
        self.memories = memories
        self._clock = clock
        self._settings = settings

    async def write(
        self, draft: MemoryDraft, features: Collection[Feature], *, by: str, shown: Collection[str] = ()
    ) -> Written:
        """Write what is worth it; the same draft with the same name again changes nothing.

        Args:
            draft: what was said.
            features: what it is; that it was said before is found out here.
            by: who writes it.
            shown: memories and words of the product that whoever says it was shown.

        Raises:
            InvalidArguments: it has no source, or cannot be kept as it is.
        """
        if draft.source == MemorySource():
            raise InvalidArguments(
                "What is remembered has a source: a turn, an execution, or a person.", text=draft.text
            )
        if draft.memory_id is not None and (there := await self._there(draft.memory_id)) is not None:
            return Written(Became.THERE, "it was written before", judge(features, self._settings), there)
        about = await self._about(draft)
        same = await self.memories.saying(draft.holder, draft.domain, draft.text)
        same = same or [record for record in about if agrees(draft.value, record.value)]
        judgement = judge({*features, *([Feature.REPEATED] if same else [])}, self._settings)
        if not same and repeats(draft.text, shown):
            return Written(Became.SHOWN_BEFORE, "it repeats what was shown", judgement)
        if not judgement.kept:
            return Written(Became.LEFT, f"{judgement.score} points of {judgement.least}", judgement)
        if same:
            return await self._again(same[0], draft, judgement, by)
        return await self._new(draft, about, judgement, by)

    async def _again(self, known: MemoryRecord, draft: MemoryDraft, judgement: Judgement, by: str) -> Written:
        """Reinforce what is known; what was disputed may outweigh by now what it contradicts."""
        if draft.source.said_by is None and known.source == draft.source:
            return Written(Became.THERE, "this very turn said it", judgement, known)
        record = await self.memories.reinforce(known.memory_id, source=draft.source, by=by)
        if record.state is MemoryState.DISPUTED and (older := await self._outweighed(record)) is not None:
            record = await self.memories.confirm(record.memory_id, by=by, supersedes=older.memory_id)
            why = f"it was said so often that it weighs {record.confidence:.2f}"
            return Written(Became.SUPERSEDES, why, judgement, record, older.memory_id)
        return Written(Became.REINFORCED, "it was said before", judgement, record)

    async def _outweighed(self, record: MemoryRecord) -> MemoryRecord | None:
        """Return the fact that a disputed one outweighs by now; a key decision never is."""
        draft = _draft_of(record)
        active = [known for known in await self._about(draft) if known.state is MemoryState.ACTIVE]
        found = contradiction(draft, active, by="", now=self._clock.now(), settings=self._settings)
        return found.known if found is not None and found.settled is Settled.NEWER else None

    async def _about(self, draft: MemoryDraft) -> Sequence[MemoryRecord]:
        """Return what is known, or waits, about the same subject and relation."""
        if not (draft.subject and draft.relation):
            return ()
        return await self.memories.about(draft.holder, draft.domain, draft.subject, draft.relation)

    async def _new(self, draft: MemoryDraft, about: Sequence[MemoryRecord], judgement: Judgement, by: str) -> Written:
        active = [record for record in about if record.state is MemoryState.ACTIVE]
        found = contradiction(draft, active, by=by, now=self._clock.now(), settings=self._settings)
        try:
            if found is None:
                record = await self.memories.add(draft, by=by)
                return Written(Became.WRITTEN, "it is new", judgement, record)
            known = found.known.memory_id
            if found.settled is Settled.NEWER:
                record = await self.memories.add(draft, by=by, supersedes=known)
                return Written(Became.SUPERSEDES, found.why, judgement, record, known)
            record = await self.memories.add(draft, by=by, disputes=known)
            return Written(Became.DISPUTED, found.why, judgement, record, known)
        except VersionConflict:
            if draft.memory_id is None or (there := await self._there(draft.memory_id)) is None:
                raise
            return Written(Became.THERE, "another process wrote it", judgement, there)

    async def _there(self, memory_id: MemoryId) -> MemoryRecord | None:
        try:
            return await self.memories.get(memory_id)
        except NotFound:
            return None


def _draft_of(record: MemoryRecord) -> MemoryDraft:
    return MemoryDraft(
        record.text, record.kind, record.memory_class, record.holder, confidence=record.confidence,
        subject=record.subject, relation=record.relation, value=record.value, domain=record.domain,
    )  # fmt: skip
