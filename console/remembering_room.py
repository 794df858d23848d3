"""The memories of one organisation in this process: its book, what writes into it, and what searches it."""

from __future__ import annotations

import asyncio
from datetime import datetime

from agents.organisation import Organisation
from console.meaning import FOLDER as VECTORS
from console.views_memories import MemoryRow
from contracts import MemoryId, MemoryRecord
from memory.files.errors import FilesKeepWords
from memory.files.exporting import export
from memory.files.pages import CurrentPages
from memory.files.places import root_of
from memory.recall.index import searched
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.records.cycle import DecayCycle
from memory.records.decay import importance_now
from memory.writing.turns import TurnReader
from memory.writing.writer import MemoryWriter
from runtime.clock import Clock
from runtime.ledger.store import SqlStore
from runtime.search import Embedder, forget_vectors
from runtime.settings.load import Settings


class Room:
    """All of them on one store; `organisation` is how its folder stands now."""

    def __init__(
        self, store: SqlStore, clock: Clock, settings: Settings, organisation: Organisation, embedder: Embedder | None
    ) -> None:
        name, ledger = organisation.name, store.ledger
        self.organisation = organisation
        self._clock = clock
        self._settings = settings.memory
        self._vectors = settings.home / VECTORS
        self.files = root_of(settings.home, name)
        self.pages = CurrentPages(store, clock, settings.memory, settings.home)
        self.book = MemoryBook(store, name, clock=clock, settings=settings.memory)
        self.writer = MemoryWriter(self.book, clock, settings.memory)
        self.turns = TurnReader(self.writer, ledger, name, settings.memory)
        self.cycle = DecayCycle(self.book, ledger, name, settings.memory)
        self.recall = MemoryRecall(self.book, settings.memory, embedder)

    def now(self) -> datetime:
        """Return the moment."""
        return self._clock.now()

    async def erase(self, memory_id: MemoryId, *, by: str, reason: str) -> None:
        """Remove the words of a memory for good, and what was made of them: row, vectors, pages and files.

        Raises:
            FilesKeepWords: all that is done, but a file that somebody edited still holds them.
        """
        told = [each.record for each in await self.book.history(memory_id)]
        await asyncio.to_thread(forget_vectors, self._vectors, {searched(record) for record in told})
        await self.book.erase(memory_id, by=by, reason=reason)
        await self.pages.write(self.organisation.name)
        if self.files.is_dir():
            await export(self.book, list({record.holder.name: record.holder for record in told}.values()), self.files)
        if left := await asyncio.to_thread(self._still_in, memory_id):
            raise FilesKeepWords(
                f"{memory_id} is erased, but somebody edited files that still hold its words: {', '.join(left)} (below "
                "memory/ORGANISATION of the home folder). Take the entry out of them, or delete them.",
                id=memory_id, files=[*left],
            )  # fmt: skip

    def _still_in(self, memory_id: MemoryId) -> list[str]:
        """Return the files, below the home folder, in which a memory still stands."""
        files = sorted(self.files.rglob("*.md")) if self.files.is_dir() else []
        return [
            file.relative_to(self.files).as_posix() for file in files if memory_id.ulid.encode() in file.read_bytes()
        ]

    def row(self, record: MemoryRecord) -> MemoryRow:
        """Return a record as faces show it."""
        return MemoryRow(record, importance_now(record, self.now(), self._settings))
