"""A bus without a broker: each subscriber tails the ledger by position, and a commit only wakes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from contracts import Event
from runtime.bus.pattern import compile_pattern
from runtime.ledger.port import Ledger

PAGE = 200
POLL_S = 0.25


class InProcessBus:
    """The port `Bus` for one process; commits of other processes are found by looking every `poll_s` seconds.

    A subscriber holds one page of events at most, however slow it is, and the writer never waits for it.
    """

    def __init__(self, ledger: Ledger, *, poll_s: float = POLL_S) -> None:
        self._ledger = ledger
        self._poll_s = poll_s

    def subscribe(self, pattern: str, *, after: int) -> AsyncGenerator[Event, None]:
        """Yield the events after position `after` whose type fits `pattern`; see the port."""
        fits = compile_pattern(pattern)

        async def tail() -> AsyncGenerator[Event, None]:
            seen = after
            committed = asyncio.Event()
            stop = self._ledger.on_commit(lambda _events: committed.set())
            try:
                while True:
                    committed.clear()  # before the read: what is committed while reading wakes us again
                    page = await self._ledger.read_all(after=seen, limit=PAGE)
                    for event in page:
                        seen = event.position
                        if fits(event.type):
                            yield event
                    if len(page) < PAGE:
                        await self._pause(committed)
            finally:
                stop()

        return tail()

    async def _pause(self, committed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll_s):
                await committed.wait()
        except TimeoutError:
            return
