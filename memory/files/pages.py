"""The pages CURRENT.md of organisations, made again from the ledger: by the daily cycle, by hand, after an erasure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from contracts import Name
from memory.files.current import write_current
from memory.files.places import root_of
from memory.records.book import MemoryBook
from runtime.clock import Clock
from runtime.executor.states import UNFINISHED
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings

_GOALS_MOST = 20


class CurrentPages:
    """Those of one store, below one home folder."""

    def __init__(self, store: SqlStore, clock: Clock, settings: MemorySettings, home: Path) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._home = home

    async def write(self, organisation: Name) -> int:
        """Write the pages of an organisation; return how many holders have one."""
        book = MemoryBook(self._store, organisation, clock=self._clock, settings=self._settings)
        holders = (await book.table.holders()).get(organisation, [])
        goals, root = await self._goals(organisation), root_of(self._home, organisation)
        return await write_current(book, holders, root, self._clock.now(), self._settings, goals=goals)

    async def write_all(self) -> int:
        """Write those of every organisation that remembers something, or did."""
        book = MemoryBook(self._store, "", clock=self._clock, settings=self._settings)
        there = {*(await book.table.holders()), *await asyncio.to_thread(self._folders)}
        return sum([await self.write(organisation) for organisation in sorted(there)])

    def _folders(self) -> Sequence[Name]:
        root = root_of(self._home, "")
        return [each.name for each in root.iterdir() if each.is_dir()] if root.is_dir() else []

    async def _goals(self, organisation: Name) -> Sequence[str]:
        """Return the goals that are worked on, oldest first."""
        ledger = self._store.ledger
        found = []
        for stream in (await ledger.streams("execution", organisation=organisation, last_types=UNFINISHED))[
            :_GOALS_MOST
        ]:
            first = await ledger.read_versions(stream, [1])
            request = (first[0].data or {}).get("request") if first else None
            if isinstance(request, dict) and request.get("goal"):
                found.append(str(request["goal"]))
        return found
