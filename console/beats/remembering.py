"""What an organisation's memory does by itself under a server: it takes in what people said, and lets things fade."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime
from pathlib import Path

from contracts import Name
from memory.files.pages import CurrentPages
from memory.records.book import MemoryBook
from memory.records.cycle import DecayCycle
from memory.writing.turns import TurnReader
from memory.writing.writer import MemoryWriter
from runtime.clock import Clock
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings

_log = logging.getLogger(__name__)


class Remembering:
    """Of one organisation. It keeps nothing that the ledger does not tell."""

    def __init__(
        self, store: SqlStore, organisation: Name, clock: Clock, settings: MemorySettings, home: Path
    ) -> None:  # fmt: skip
        book = MemoryBook(store, organisation, clock=clock, settings=settings)
        self._organisation = organisation
        self._turns = TurnReader(MemoryWriter(book, clock, settings), store.ledger, organisation, settings)
        self._cycle = DecayCycle(book, store.ledger, organisation, settings)
        self._pages = CurrentPages(store, clock, settings, home)
        self._held: date | None = None

    async def go(self, now: datetime) -> None:
        """Read what was said since the last time and, once a day, hold the cycle.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        await self._turns.catch_up()
        day = now.astimezone(UTC).date()
        if self._held != day:
            report = await self._cycle.hold(now)
            await self._write_pages()
            self._held = day
            if report is not None and report.archived:
                _log.info("%d memories of %s faded and were archived", len(report.archived), self._organisation)

    async def _write_pages(self) -> None:
        try:
            await self._pages.write(self._organisation)
        except OSError as error:  # they are derived: nothing is lost, and tomorrow is another day
            _log.warning("what holds today could not be written: %s", error)
