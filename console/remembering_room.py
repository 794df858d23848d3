"""The memories of one organisation in this process: its book, what writes into it, and what searches it."""

from __future__ import annotations

import asyncio
from datetime import datetime

from agents.organisation import Organisation
from console.meaning import FOLDER as VECTORS
from console.views_memories import MemoryRow
from contracts import MemoryId, MemoryRecord
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
        """Remove the words of a memory for good, and what was made of them: its row and the vectors of each version."""
        texts = {searched(each.record) for each in await self.book.history(memory_id)}
        await asyncio.to_thread(forget_vectors, self._vectors, texts)
        await self.book.erase(memory_id, by=by, reason=reason)

    def row(self, record: MemoryRecord) -> MemoryRow:
        """Return a record as faces show it."""
        return MemoryRow(record, importance_now(record, self.now(), self._settings))
