"""Erases what is known of one person: memories, profile, conversations, what was made of them, and their files.

Each part can be done again, so that an erasure that was killed is finished by asking for it once more. What accounts
for work that was done stays: who asked for an execution, who decided a card, who wrote a memory of the business.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from contracts import HolderKind, MemoryHolder, MemoryId, MemoryState, Name
from memory.consolidation.kept import ConsolidatedShelves
from memory.conversations import Started
from memory.files.places import folder_of_holder
from memory.recall.index import searched
from memory.records.port import MemoryFilter
from memory.room import MemoryRoom
from runtime.keeping.prune_blobs import prune_blobs
from runtime.ledger.store import SqlStore
from runtime.search import plain

_KIND = "conversation"


@dataclass(frozen=True, slots=True)
class PersonErased:
    """What was erased, or would be."""

    person: str
    memories: int
    conversations: int
    turns: int
    """Events of those conversations."""
    profile: int
    """Events of their profile."""
    files: int
    blobs: int
    texts: frozenset[str]
    """Of their memories, for whoever keeps something made of them; empty where nothing was erased."""
    named_in: tuple[MemoryId, ...]
    """Memories of the business and of employees in which their name or id stands: those stay, and somebody decides."""


class PersonErasure:
    """Of one organisation."""

    def __init__(self, store: SqlStore, memory: MemoryRoom) -> None:
        self._store = store
        self._memory = memory
        self._organisation: Name = memory.organisation

    async def look(self, person: str, names: Collection[str] = ()) -> PersonErased:
        """Return what an erasure would take away; nothing is changed. `names` are how the person is called."""
        memories = await self._memories(person)
        conversations = await self._conversations(person)
        turns = sum([len(await self._store.ledger.read(stream)) for stream in conversations])
        profile = await self._memory.profiles.get(person)
        return PersonErased(
            person, len(memories), len(conversations), turns, profile.events, self._files(person), 0, frozenset(),
            await self._named_in(person, names),
        )  # fmt: skip

    async def erase(
        self, person: str, *, by: str, reason: str, now: datetime, names: Collection[str] = ()
    ) -> PersonErased:
        """Erase it, and return what was.

        Raises:
            LedgerUnavailable: what is left is erased by asking again.
        """
        await self._memory.erasures.finish(now)
        before = await self.look(person, names)
        turns = 0
        for stream in await self._conversations(person):  # first, or a memory could be made of their turns meanwhile
            turns += await self._empty(stream)
        texts: set[str] = set()
        memories = await self._memories(person)
        for memory_id in memories:
            texts |= {searched(each.record) for each in await self._memory.book.history(memory_id)}
            await self._memory.book.erase(memory_id, by=by, reason=reason)
        kept = ConsolidatedShelves(self._store.ledger, self._organisation)
        await kept.forget_holder(MemoryHolder(kind=HolderKind.PERSON, name=person))
        await self._memory.profiles.erase(person)
        await asyncio.to_thread(self._remove_files, person)
        await self._memory.write_pages(now)
        blobs, _ = await prune_blobs(self._store, but=(), dry=False)
        await self._store.reader.flush_erased()
        return PersonErased(
            person, len(memories), before.conversations, turns, before.profile, before.files, blobs, frozenset(texts),
            before.named_in,
        )  # fmt: skip

    async def _memories(self, person: str) -> list[MemoryId]:
        holder = MemoryHolder(kind=HolderKind.PERSON, name=person)
        states = tuple(state for state in MemoryState if state is not MemoryState.ERASED)
        which = MemoryFilter(states=states, holders=(holder,), every_domain=True)
        return [record.memory_id for record in await self._memory.book.find(which)]

    async def _named_in(self, person: str, names: Collection[str]) -> tuple[MemoryId, ...]:
        wanted = [plain(name) for name in {person, *names} if name.strip()]
        records = await self._memory.book.find(MemoryFilter(every_domain=True))
        others = [each for each in records if each.holder.kind is not HolderKind.PERSON]
        return tuple(
            each.memory_id
            for each in others
            if any(f" {name} " in f" {plain(searched(each)).translate(_MARKS)} " for name in wanted)
        )

    async def _conversations(self, person: str) -> list[str]:
        """Return the conversations of a person whose beginning can still be read."""
        found = []
        for stream in await self._store.ledger.streams(_KIND, organisation=self._organisation):
            first = await self._store.ledger.read_versions(stream, [1])
            try:
                started = Started.of(first[0]) if first else None
            except (KeyError, ValueError, TypeError):
                continue
            if started is not None and started.person == person:
                found.append(stream)
        return found

    async def _empty(self, stream: str) -> int:
        """Erase the words of a conversation, its beginning last: by that it is found again after a crash."""
        events = [event for event in await self._store.ledger.read(stream) if event.data is not None]
        for event in sorted(events, key=lambda event: event.stream_version == 1):
            await self._store.ledger.erase(stream, event.stream_version)
        return len(events)

    def _folder_files(self, person: str) -> list[str]:
        folder = folder_of_holder(self._memory.files, MemoryHolder(kind=HolderKind.PERSON, name=person))
        return [str(file) for file in folder.rglob("*") if file.is_file()] if folder.is_dir() else []

    def _files(self, person: str) -> int:
        return len(self._folder_files(person))

    def _remove_files(self, person: str) -> None:
        folder = folder_of_holder(self._memory.files, MemoryHolder(kind=HolderKind.PERSON, name=person))
        if folder.is_dir():
            shutil.rmtree(folder)


_MARKS = str.maketrans(dict.fromkeys(".,;:!?()[]\"'。，；：！？（）", " "))
