"""Hears over the bus of executions for which something was recorded, by whatever process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from contracts import Event, ExecutionId
from runtime.bus import Bus
from runtime.errors import LedgerUnavailable
from runtime.executor import states
from runtime.ledger.port import Ledger

_TELL = {
    states.REQUESTED,
    states.REOPENED,
    states.CANCEL_REQUESTED,
    states.BRANCH_CANCEL_REQUESTED,
    states.WAITING,
}
"""Events of an execution after which there may be something to do for it."""
_ASKED = ("card.", "question.")

_log = logging.getLogger(__name__)


class Listener:
    """Tells a service what to look at; what is missed here is found by its next sweep.

    Args:
        tell: is called with each execution of which there is news.
        begun: is called once it is known from which position on there will be news.
        away: is told when the ledger cannot be read.
        again_s: wait before the bus is asked again.
    """

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        *,
        tell: Callable[[ExecutionId], None],
        begun: Callable[[], None],
        away: Callable[[LedgerUnavailable], object],
        again_s: float,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._tell = tell
        self._begun = begun
        self._away = away
        self._again_s = again_s
        self._heard: int | None = None
        """Position of the last event heard of; None before it is known where to begin."""

    async def listen(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._hear()
            except LedgerUnavailable as error:
                self._away(error)
            except Exception:  # a fault of the program must not end the loop
                _log.exception("listening to the bus failed on a fault of the program; it goes on")
            await asyncio.sleep(self._again_s)

    async def _hear(self) -> None:
        if self._heard is None:
            self._heard = await self._ledger.head()
            self._begun()
        async with aclosing(self._bus.subscribe("*", after=self._heard)) as events:
            async for event in events:
                self._heard = event.position
                if event.execution_id is not None and _is_news(event):
                    self._tell(event.execution_id)


def _is_news(event: Event) -> bool:
    return event.type in _TELL or event.type.startswith(_ASKED)
