"""The memories of one organisation in this process: its book, what writes into it, and what searches it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from agents.organisation import Organisation
from console.meaning import FOLDER as VECTORS
from console.views_memories import MemoryRow
from contracts import MemoryId, MemoryRecord
from governance.access import Person
from memory.files.errors import FilesKeepWords
from memory.recall.index import searched
from memory.records.decay import importance_now
from memory.room import MemoryRoom
from runtime.clock import Clock
from runtime.search import forget_vectors
from runtime.settings.load import Settings


class Room:
    """The memory of an organisation as faces use it; `organisation` is how its folder stands now."""

    def __init__(self, memory: MemoryRoom, organisation: Organisation, clock: Clock, settings: Settings) -> None:
        self.memory = memory
        self.organisation = organisation
        self.book = memory.book
        self._clock = clock
        self._settings = settings.memory
        self.vectors = settings.home / VECTORS

    def now(self) -> datetime:
        """Return the moment."""
        return self._clock.now()

    async def weigher(self, person: Person | None) -> Callable[[MemoryRecord], float]:
        """Return how much memories count in searches of a person; the same for all where nobody in particular looks."""
        if person is None:
            return lambda record: 1.0
        return await self.memory.weigh(person.id)

    async def erase(self, memory_id: MemoryId, *, by: str, reason: str) -> None:
        """Remove the words of a memory for good, and what was made of them: row, vectors, pages and files.

        Raises:
            FilesKeepWords: all that is done, but a file that somebody edited still holds them.
        """
        told = [each.record for each in await self.book.history(memory_id)]
        await asyncio.to_thread(forget_vectors, self.vectors, {searched(record) for record in told})
        await self.memory.erasures.erase(memory_id, by=by, reason=reason, now=self.now())
        if left := await asyncio.to_thread(self._still_in, memory_id):
            raise FilesKeepWords(
                f"{memory_id} is erased, but somebody edited files that still hold its words: {', '.join(left)} (below "
                "memory/ORGANISATION of the home folder). Take the entry out of them, or delete them.",
                id=memory_id, files=[*left],
            )  # fmt: skip

    def _still_in(self, memory_id: MemoryId) -> list[str]:
        """Return the files, below the home folder, in which a memory still stands."""
        root = self.memory.files
        files = sorted(root.rglob("*.md")) if root.is_dir() else []
        return [file.relative_to(root).as_posix() for file in files if memory_id.ulid.encode() in file.read_bytes()]

    def row(self, record: MemoryRecord) -> MemoryRow:
        """Return a record as faces show it."""
        return MemoryRow(record, importance_now(record, self.now(), self._settings))
