"""Memories in files that people edit, by the rights of now."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from console.memory_rights import holders_seen, may_write
from console.resources import Resources
from console.system_user import system_user
from console.views_memory_files import EntryTaken, FilesTaken, FilesWritten
from contracts import MemoryHolder
from governance.access import Person

if TYPE_CHECKING:
    from agents.organisation import Organisation
    from console.remembering_room import Room


class MemoryFiling:
    """The port `MemoryFilesPort`, beside `Remembering`."""

    _resources: Resources

    if TYPE_CHECKING:

        async def _room(self, folder: Path) -> Room: ...

        def _looking(self, organisation: Organisation, by: str | None) -> Person | None: ...

    async def export_memories(self, folder: Path, *, by: str | None, overwrite: bool = False) -> FilesWritten:
        """Write memories into files; see the port."""
        from memory.files.exporting import export

        room = await self._room(folder)
        holders = holders_seen(room.organisation, self._looking(room.organisation, by))
        done = await export(room.book, holders, room.memory.files, overwrite=overwrite)
        written, edited = (
            [path.relative_to(room.memory.files) for path in each] for each in (done.written, done.edited)
        )
        return FilesWritten(room.memory.files, written, done.same, edited, done.memories)

    async def import_memories(self, folder: Path, *, by: str | None, withdraw_missing: bool = False) -> FilesTaken:
        """Take in what was edited; see the port."""
        from memory.files.importing import FileImport

        room = await self._room(folder)
        people = room.organisation.people
        person = people.acting(by, system_user())

        def may_change(holder: MemoryHolder) -> None:
            may_write(people, person, holder)

        taking = FileImport(room.book, room.memory.writer, room.memory.files, by=person.id, may_change=may_change)
        taken = await taking.take_in(holders_seen(room.organisation, person), withdraw_missing=withdraw_missing)
        entries = [
            EntryTaken(each.became.value, each.file, each.line, each.memory_id, each.why, each.edited, each.stands)
            for each in taken.entries
        ]
        return FilesTaken(room.memory.files, entries, taken.untouched, Counter(each.became for each in entries))
