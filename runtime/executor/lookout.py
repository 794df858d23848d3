"""Requests to stop, looked for on behalf of every stretch of a process with one query each time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from contracts import Event
from runtime.errors import LedgerUnavailable
from runtime.executor.states import BRANCH_CANCEL_REQUESTED, CANCEL_REQUESTED
from runtime.ledger.port import Ledger

LOOK_S = 0.5
"""How often requests from other processes are looked for."""
REQUESTS = (CANCEL_REQUESTED, BRANCH_CANCEL_REQUESTED)

_log = logging.getLogger(__name__)


class Lookout:
    """Tells a stretch that its execution may have been asked to stop.

    While somebody works on an execution nobody else writes anything but such requests to its stream, so that the type
    of its last event says whether there is one.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: dict[str, set[asyncio.Event]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._stop: Callable[[], None] | None = None

    @asynccontextmanager
    async def over(self, execution_id: str) -> AsyncIterator[asyncio.Event]:
        """Give what is set whenever there may be a request; clear it before reading the stream."""
        told = asyncio.Event()
        self._told.setdefault(execution_id, set()).add(told)
        if self._looking is None:
            self._stop = self._ledger.on_commit(self._see)
            self._looking = asyncio.create_task(self._look(), name="looks for requests to stop")
        try:
            yield told
        finally:
            self._told[execution_id].discard(told)
            if not self._told[execution_id]:
                del self._told[execution_id]
            if not self._told:
                self._end()

    def _end(self) -> None:
        if self._looking is not None and self._stop is not None:
            self._stop()
            self._looking.cancel()
            self._looking = self._stop = None

    def _see(self, events: Sequence[Event]) -> None:
        """Tell of what this process committed itself."""
        for event in events:
            if event.type in REQUESTS and event.subject in self._told:
                self._tell(event.subject)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                asked = await self._ledger.streams("execution", last_types=REQUESTS)
            except LedgerUnavailable as error:
                _log.warning("requests to stop could not be looked for: %s", error)
                continue
            except Exception:  # a fault of the program must not leave requests unheard
                _log.exception("requests to stop could not be looked for")
                continue
            for execution_id in asked:
                if execution_id in self._told:
                    self._tell(execution_id)

    def _tell(self, execution_id: str) -> None:
        for told in self._told[execution_id]:
            told.set()
