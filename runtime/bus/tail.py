"""The end of the ledger, read once for everybody in this process who follows it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from contracts import Event
from runtime.errors import LedgerError
from runtime.ledger.port import Ledger

PAGE = 200
KEPT = 500
"""Newest events kept in memory; whoever is further behind reads pages of the ledger."""
POLL_S = 0.25
_log = logging.getLogger(__name__)


class Tail:
    """The newest events of the ledger, in order.

    Commits of this process arrive by themselves and cost no read. Those of others are read when somebody says that
    there are some (`look`), else every `poll_s` seconds. Nothing is read while nobody follows.
    """

    def __init__(self, ledger: Ledger, *, poll_s: float = POLL_S) -> None:
        self.poll_s = poll_s
        self._ledger = ledger
        self._floor: int | None = None
        self._position = 0
        self._kept: deque[Event] = deque()
        self._followers = 0
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._news = asyncio.Event()
        self._error: LedgerError | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def position(self) -> int:
        """The greatest position known here; 0 until the first look."""
        return self._position

    @property
    def floor(self) -> int:
        """The events after this position are kept; 0 until the first look."""
        return self._floor or 0

    @asynccontextmanager
    async def following(self) -> AsyncGenerator[None, None]:
        """Keep the tail moving for as long as somebody is inside."""
        self._followers += 1
        if self._followers == 1:
            self._task = asyncio.create_task(self._run(), name="bus-tail")
        try:
            yield
        finally:
            self._followers -= 1
            if self._followers == 0 and self._task is not None:
                task, self._task = self._task, None
                task.cancel()
                self._floor, self._position = None, 0
                self._kept.clear()
                await asyncio.gather(task, return_exceptions=True)

    def after(self, position: int) -> list[Event] | None:
        """Return the kept events after `position`, in order; None when some of those are no longer kept."""
        if self._floor is None or position < self._floor:
            return None
        found: list[Event] = []
        for event in reversed(self._kept):
            if event.position <= position:
                break
            found.append(event)
        found.reverse()
        return found

    async def moved(self, position: int, *, within_s: float | None = None) -> None:
        """Return when the tail has gone past `position`, or when the time is over.

        Raises:
            LedgerError: the ledger cannot be read now. The tail goes on trying; so may the caller.
        """
        try:
            async with asyncio.timeout(within_s):
                while self._position <= position:
                    await self._news.wait()
                    if self._error is not None:
                        raise self._error
        except TimeoutError:
            return

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever there is something new; return a function that stops it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def look(self) -> None:
        """Read the ledger now: somebody says that it has moved on."""
        self._wanted.set()

    async def _run(self) -> None:
        stop = self._ledger.on_commit(self._committed)
        try:
            failures = 0
            while True:
                self._wanted.clear()  # before the read: what is committed while reading wakes us again
                try:
                    await self._catch_up()
                except Exception as error:  # without this task everybody who follows would wait for ever
                    failures += 1
                    self._failed(error, first=failures == 1)
                    await asyncio.sleep(min(5.0, self.poll_s * 2**failures))
                    continue
                failures = 0
                await self._pause()
        finally:
            stop()

    async def _catch_up(self) -> None:
        if self._floor is None:
            head = await self._ledger.head()
            self._floor = self._position = head
            self._tell()
            return
        while True:
            page = await self._ledger.read_all(after=self._position, limit=PAGE)
            self._take(page)
            if len(page) < PAGE:
                return

    def _committed(self, events: Sequence[Event]) -> None:
        if self._floor is not None and events[0].position <= self._position + 1:
            self._take(events)
        else:  # others wrote in between
            self._wanted.set()

    def _take(self, events: Sequence[Event]) -> None:
        new = [event for event in events if event.position > self._position]
        if not new:
            return
        self._kept.extend(new)
        self._position = new[-1].position
        while len(self._kept) > KEPT:
            self._floor = self._kept.popleft().position
        self._tell()

    def _failed(self, error: Exception, *, first: bool) -> None:
        known = isinstance(error, LedgerError)
        if first:
            _log.warning("the bus cannot read the ledger and tries again: %s", error, exc_info=None if known else error)
        self._tell(error if isinstance(error, LedgerError) else LedgerError(f"The ledger cannot be read: {error}"))

    def _tell(self, error: LedgerError | None = None) -> None:
        self._error = error
        told, self._news = self._news, asyncio.Event()
        told.set()
        for listener in tuple(self._listeners):
            listener()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self.poll_s):
                await self._wanted.wait()
        except TimeoutError:
            return
