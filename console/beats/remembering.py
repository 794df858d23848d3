"""What an organisation's memory does by itself under a server: it takes in what people said, lets things fade, and is
told anew when a conversation begins."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, date, datetime

from memory.room import MemoryRoom
from runtime.errors import SiliconError

_log = logging.getLogger(__name__)


class Remembering:
    """Of one organisation. It keeps nothing that the ledger does not tell."""

    def __init__(self, memory: MemoryRoom) -> None:
        self._memory = memory
        self._held: date | None = None
        self._consolidating: asyncio.Task[None] | None = None

    async def go(self, now: datetime) -> None:
        """Read what was said since the last time and, once a day, hold the cycle.

        What waits for a model goes on beside it: nothing else of the organisation waits for that.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        await self._memory.turns.catch_up()
        await self._memory.profile_reader.catch_up()
        day = now.astimezone(UTC).date()
        if self._held != day:
            report = await self._memory.cycle.hold(now)
            await self._memory.erasures.finish(now)
            await self._write_pages(now)
            self._held = day
            if report is not None and report.archived:
                _log.info("%d memories of %s faded and were archived", len(report.archived), self._memory.organisation)
        if self._consolidating is None or self._consolidating.done():
            self._consolidating = asyncio.create_task(self._consolidate(now))

    async def close(self) -> None:
        """Stop what goes on; whoever comes next takes it up again."""
        if self._consolidating is not None:
            self._consolidating.cancel()
            with suppress(asyncio.CancelledError):
                await self._consolidating

    async def _consolidate(self, now: datetime) -> None:
        name = self._memory.organisation
        try:
            heard = await self._memory.listener.catch_up()
            if heard.consolidations:
                await self._write_pages(now)
        except SiliconError as error:
            _log.warning("memories of %s were not consolidated: %s", name, error.message)
        except Exception:  # a fault of the program must not end the server
            _log.exception("consolidating memories of %s failed on a fault of the program; it goes on", name)

    async def _write_pages(self, now: datetime) -> None:
        try:
            await self._memory.write_pages(now)
        except OSError as error:  # they are derived: nothing is lost, and tomorrow is another day
            _log.warning("what holds today could not be written: %s", error)
