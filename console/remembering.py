"""Memories as people look after them: seen, searched, written, corrected, by the rights of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from console.folders import folder_of
from console.memory_rights import holder_named, holders_seen, may_change, may_write
from console.ports_memories import Asked, MemoryMove
from console.resources import Resources
from console.system_user import system_user
from console.views_memories import (
    MemoriesFound,
    MemoryChange,
    MemoryCycle,
    MemoryHit,
    MemoryPage,
    MemoryRow,
    MemoryWritten,
)  # fmt: skip
from contracts import MemoryClass, MemoryId, MemoryKind, MemoryRecord, MemorySource, MemoryState, Name
from governance.access import Person
from governance.errors import NobodyActs
from memory.records.port import MemoryDraft, MemoryFilter
from memory.writing.policy import Feature
from runtime.errors import InvalidArguments, NotFound

if TYPE_CHECKING:
    from agents.organisation import Organisation
    from console.remembering_room import Room
    from memory.writing.writer import Written


class Remembering:
    """The port `MemoriesPort`."""

    _resources: Resources

    @cached_property
    def _rooms(self) -> dict[Name, Room]:
        """Kept from request to request: what searches knows what it has read."""
        return {}

    async def memories(
        self, folder: Path, asked: Asked, *, by: str | None, after: MemoryId | None = None, limit: int = 100
    ) -> MemoryPage:
        """Return memories, oldest first; see the port."""
        room = await self._room(folder)
        which = self._which(room.organisation, asked, self._looking(room.organisation, by))
        found = await room.book.find(which, after=after, limit=limit + 1)
        return MemoryPage([room.row(each) for each in found[:limit]], room.now(), len(found) > limit)

    async def memory(
        self, folder: Path, memory_id: MemoryId, *, by: str | None
    ) -> tuple[MemoryRow, Sequence[MemoryChange]]:
        """Return one memory with its history; see the port."""
        room = await self._room(folder)
        record = await self._seen(room, memory_id, self._looking(room.organisation, by))
        told = await room.book.history(memory_id)
        return room.row(record), [
            MemoryChange(each.event, each.record.version, each.record.text, each.by, each.position, each.reason)
            for each in told
        ]

    async def memory_ids(self, folder: Path, *, by: str | None) -> Sequence[MemoryId]:
        """Return the ids of all memories that may be seen; see the port."""
        room = await self._room(folder)
        asked = Asked(states=tuple(MemoryState))
        which = self._which(room.organisation, asked, self._looking(room.organisation, by))
        return [record.memory_id for record in await room.book.find(which)]

    async def search_memories(
        self, folder: Path, query: str, asked: Asked, *, by: str | None, top: int | None = None
    ) -> MemoriesFound:
        """Return the memories that fit a question best; see the port."""
        room = await self._room(folder)
        person = self._looking(room.organisation, by)
        which = self._which(room.organisation, asked, person)
        personal = await room.weigher(person)
        found = await room.memory.recall.search(query, which, now=room.now(), top=top, personal=personal)
        ids = [hit.record.memory_id for hit in found.hits]
        if ids:
            await room.book.note_read(ids, by=person.id if person else system_user())
        hits = [
            MemoryHit(MemoryRow(hit.record, hit.importance), hit.score, hit.parts, hit.terms, hit.tokens)
            for hit in found.hits
        ]
        return MemoriesFound(hits, found.candidates, found.no_room, found.by_words)

    async def write_memory(
        self, folder: Path, text: str, *, by: str | None, whose: str = "me",
        memory_class: MemoryClass | None = None, domain: Name | None = None, about: Sequence[str] = (),
        entities: Sequence[str] = (), importance: float = 0.7,
    ) -> MemoryWritten:  # fmt: skip
        """Write something down; see the port."""
        room = await self._room(folder)
        people = room.organisation.people
        person = people.acting(by, system_user())
        holder = holder_named(whose, room.organisation, person)
        may_write(people, person, holder)
        if about and len(about) != 3:
            raise InvalidArguments("What it is about is three things: subject, relation, value.", about=list(about))
        subject, relation, value = about or (None, None, None)
        draft = MemoryDraft(
            text, MemoryKind.SEMANTIC, memory_class or MemoryClass.FACT, holder, importance, 0.8, subject, relation,
            value, domain, entities=tuple(entities), source=MemorySource(said_by=person.id),
        )  # fmt: skip
        return _told(room, await room.memory.writer.write(draft, [Feature.REMEMBER], by=person.id))

    async def correct_memory(
        self, folder: Path, memory_id: MemoryId, changed: Mapping[str, object], *, by: str | None,
        version: int | None = None, reason: str = "",
    ) -> MemoryRow:  # fmt: skip
        """Write a new version; see the port."""
        room, person = await self._changing(folder, memory_id, by)
        at = (await room.book.get(memory_id)).version if version is None else version
        return room.row(await room.book.correct(memory_id, changed, by=person.id, version=at, reason=reason))

    async def move_memory(
        self, folder: Path, memory_id: MemoryId, move: MemoryMove, *, by: str | None, reason: str = ""
    ) -> MemoryRow | None:
        """Do something with a memory; see the port."""
        room, person = await self._changing(folder, memory_id, by)
        book = room.book
        match move:
            case MemoryMove.ERASE:
                if not reason:
                    raise InvalidArguments("Words that are erased are gone for good: say why.", id=memory_id)
                await room.erase(memory_id, by=person.id, reason=reason)
                return None
            case MemoryMove.CONFIRM:
                disputed = await book.get(memory_id)
                return room.row(await book.confirm(memory_id, by=person.id, supersedes=disputed.disputes))
            case MemoryMove.WITHDRAW:
                done = await book.withdraw(memory_id, by=person.id, reason=reason)
            case MemoryMove.ARCHIVE:
                done = await book.archive(memory_id, by=person.id, reason=reason)
            case MemoryMove.RESTORE:
                done = await book.restore(memory_id, by=person.id, reason=reason)
            case MemoryMove.UNDO:
                done = await book.undo(memory_id, by=person.id, reason=reason)
        return room.row(done)

    async def remember_turns(self, folder: Path) -> Sequence[MemoryWritten]:
        """Take in what people said; see the port."""
        room = await self._room(folder)
        return [_told(room, each.written) for each in await room.memory.turns.catch_up()]

    async def hold_memory_cycle(self, folder: Path) -> MemoryCycle:
        """Hold today's cycle; see the port."""
        room = await self._room(folder)
        report = await room.memory.cycle.hold(room.now())
        await room.memory.erasures.finish(room.now())
        await room.memory.write_pages(room.now())
        if report is None:
            return MemoryCycle(held=False)
        return MemoryCycle(
            True, report.day, report.looked_at, report.faded, report.archived, report.missed_days
        )  # fmt: skip

    async def rebuild_memories(self) -> int:
        """Make the table again; see the port."""
        from memory.files.pages import CurrentPages
        from memory.records.table import MemoryTable
        from memory.room import MemoryRoom

        store, settings = await self._resources.store(), self._resources.settings
        count = await MemoryTable(store).rebuild()
        await CurrentPages(store, self._resources.clock, settings.memory, settings.home).write_all()
        for name in await MemoryTable(store).holders():
            room = MemoryRoom(
                store, name, clock=self._resources.clock, settings=settings.memory, home=settings.home
            )  # fmt: skip
            await room.auto_pages.write(self._resources.clock.now())
        return count

    async def _changing(self, folder: Path, memory_id: MemoryId, by: str | None) -> tuple[Room, Person]:
        """Return the room, and the person, who may change this memory."""
        room = await self._room(folder)
        person = room.organisation.people.acting(by, system_user())
        may_change(room.organisation.people, person, await self._seen(room, memory_id, person))
        return room, person

    async def _seen(self, room: Room, memory_id: MemoryId, person: Person | None) -> MemoryRecord:
        """Return a memory that may be seen; another one is not there."""
        record = await room.book.get(memory_id)
        if record.holder not in holders_seen(room.organisation, person):
            raise NotFound(f"There is no {memory_id} in {room.organisation.name}.", id=memory_id)
        return record

    def _which(self, organisation: Organisation, asked: Asked, person: Person | None) -> MemoryFilter:
        seen = holders_seen(organisation, person)
        if asked.whose is not None:
            wanted = holder_named(asked.whose, organisation, person)
            seen = [each for each in seen if each == wanted]
            if not seen:
                raise NotFound(f"There are no memories of {asked.whose} here.", whose=asked.whose)
        return MemoryFilter(
            states=asked.states, kinds=asked.kinds, classes=asked.classes, holders=seen, domains=asked.domains,
            every_domain=not asked.domains, entities=asked.entities,
        )  # fmt: skip

    def _looking(self, organisation: Organisation, by: str | None) -> Person | None:
        """Return who looks; None for a system user without an entry, who sees what belongs to no person."""
        try:
            return organisation.people.acting(by, system_user())
        except NobodyActs:
            if by is not None:
                raise
            return None

    async def _room(self, folder: Path) -> Room:
        from console.remembering_room import Room  # it imports SQLAlchemy and what searches

        organisations = await self._resources.organisations()
        organisation, _ = await organisations.current(folder_of(folder))
        room = self._rooms.get(organisation.name)
        if room is None:
            clock, settings = self._resources.clock, self._resources.settings
            room = Room(organisations.memory(organisation), organisation, clock, settings)
            self._rooms[organisation.name] = room
        room.organisation = organisation
        return room


def _told(room: Room, written: Written) -> MemoryWritten:
    points = {feature.value: points for feature, points in written.judgement.points.items()}
    row = None if written.record is None else room.row(written.record)
    return MemoryWritten(written.became.value, written.why, points, written.judgement.least, row, written.other)
