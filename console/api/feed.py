"""The ledger followed once for all readers: the last events are kept, whoever is further behind reads pages."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

from contracts import Event, ExecutionId

PAGE = 100
"""Events that a reader who is far behind takes from the ledger at once; it is all that it holds."""
TAKEN = 200
"""Frames that a reader takes from those kept at once."""
KEPT = 2_000
KEPT_BYTES = 8 * 1024 * 1024
GATHER_S = 0.1
"""After an event that was waited for, others gather this long, so that many share one look at the ledger."""
GATHER_READER_S = 0.001
"""With many readers they gather longer: telling one costs under 0.1 ms, so telling all takes a tenth of the time."""
REST = 2.0
"""After a page was read, none is read for so many times as long: whoever catches up leaves room for the work itself."""
RETRY_S = 1.0
_AT_ONCE_S = 0.001

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where events come from."""

    def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncGenerator[Event, None]:
        """Give events as they are committed."""
        ...

    async def events_after(
        self, position: int, *, execution_id: ExecutionId | None = None, limit: int
    ) -> Sequence[Event]:  # fmt: skip
        """Return the next events."""
        ...

    async def head(self) -> int:
        """Return the greatest position."""
        ...


@dataclass(frozen=True, slots=True)
class Frame:
    """One event, and the bytes that tell it to every reader."""

    position: int
    execution_id: str | None
    organisation: str
    stream: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """The next frames, and the position up to which there is nothing else."""

    frames: Sequence[Frame]
    through: int


class Feed:
    """What readers of events share: one follower of the ledger, and the last frames.

    The follower works only while a reader waits for something new. A reader that sleeps, because whoever it tells does
    not read, costs nothing: no thread, no transaction, and of memory the few frames it was about to hand on. When it
    wakes it goes on from the frames kept here, or reads the ledger page by page.
    """

    def __init__(self, source: Source, *, readers: int) -> None:
        self._source = source
        self._most = readers
        self._readers = 0
        self._frames: list[Frame] = []
        self._after = self._through = -1
        """The frames kept are all there is after the one position and up to the other; -1 before the first reader."""
        self._bytes = 0
        self._waiting: dict[asyncio.Event, int] = {}
        """Readers that wait, with the position after which each wants something."""
        self._wanted = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        self._paging = asyncio.Lock()
        """One page is read at a time, however many readers catch up."""
        self._rested_at = 0.0
        self.closed = asyncio.Event()
        """Set when the server stops: every stream ends, and its reader goes on elsewhere from where it was."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count one reader as long as it reads; with the last one the follower stops."""
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers and self._follower is not None:
                self._follower.cancel()
                self._follower = None  # whoever comes next starts another

    @property
    def is_full(self) -> bool:
        """Whether there are as many readers as this server serves."""
        return self._readers >= self._most

    async def read(self, seen: int, execution_id: ExecutionId | None = None) -> Batch:
        """Return what comes after `seen`, as much as is taken at once; frames of other executions may be among it."""
        if self._after < 0:
            self._after = self._through = await self._source.head()
        if self._after <= seen <= self._through:
            start = bisect_right(self._frames, seen, key=lambda frame: frame.position)
            frames = self._frames[start : start + TAKEN]
            whole = start + len(frames) == len(self._frames)
            return Batch(frames, max(seen, self._through) if whole else frames[-1].position)
        return await self._page(seen, execution_id)

    async def wait(self, seen: int, within_s: float) -> bool:
        """Return whether there is something after `seen`, or the feed is closed; wait for it as long as that."""
        if self._through > seen or self.closed.is_set():
            return True
        grown = asyncio.Event()
        self._waiting[grown] = seen
        self._wanted.set()
        if self._follower is None:
            self._follower = asyncio.create_task(self._follow(), name="feed", context=Context())  # of no one request
        try:
            async with asyncio.timeout(within_s):
                await grown.wait()
        except TimeoutError:
            return False
        finally:
            del self._waiting[grown]
        return True

    async def close(self) -> None:
        """End every stream; what readers have not got yet they get elsewhere."""
        self.closed.set()
        self._wake(self._waiting)
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)

    async def _page(self, seen: int, execution_id: ExecutionId | None) -> Batch:
        clock = asyncio.get_running_loop().time
        async with self._paging:
            await asyncio.sleep(max(0.0, self._rested_at - clock()))
            begun_at = clock()
            head = await self._source.head()  # before the page: whatever is committed later comes after it
            events = await self._source.events_after(seen, execution_id=execution_id, limit=PAGE)
            frames = [frame_of(event) for event in events]
            self._rested_at = clock() + REST * (clock() - begun_at)
        last = frames[-1].position if frames else seen
        return Batch(frames, last if len(frames) == PAGE else max(last, head))

    async def _follow(self) -> None:
        told = False
        while True:
            await self._wanted.wait()
            self._skip()
            try:
                async with aclosing(self._source.events(None, after=self._through, follow=True)) as events:
                    await self._take_from(events)
                told = False
            except Exception:  # the top of a loop that has to go on: readers wait until the ledger is back
                if not told:
                    _log.exception("events cannot be followed at the moment")
                told = True
                await asyncio.sleep(RETRY_S)

    def _skip(self) -> None:
        """Forget what nobody who waits needs: while all were asleep, the ledger may have gone far ahead."""
        if self._waiting and (least := min(self._waiting.values())) > self._through:
            self._frames.clear()
            self._bytes = 0
            self._after = self._through = least

    async def _take_from(self, events: AsyncIterator[Event]) -> None:
        """Take events while somebody waits; return when it is better to begin anew further on."""
        clock = asyncio.get_running_loop().time
        while True:
            asked_at = clock()
            event = await anext(events)
            self._take(frame_of(event))
            if clock() - asked_at > _AT_ONCE_S:
                await asyncio.sleep(max(GATHER_S, GATHER_READER_S * self._readers))
            if not self._waiting:
                self._wanted.clear()
                await self._wanted.wait()
            if self._waiting and min(self._waiting.values()) > self._through:
                return

    def _take(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._through = frame.position
        self._bytes += len(frame.data)
        if len(self._frames) > KEPT or self._bytes > KEPT_BYTES:
            half = self._frames[: (len(self._frames) + 1) // 2]
            del self._frames[: len(half)]
            self._bytes -= sum(len(each.data) for each in half)
            self._after = half[-1].position
        self._wake([grown for grown, seen in self._waiting.items() if seen < frame.position])

    def _wake(self, waiting: Iterable[asyncio.Event]) -> None:
        for grown in waiting:
            grown.set()


def frame_of(event: Event) -> Frame:
    """Return the event as a server-sent event, its position as the id with which a reader goes on."""
    data = event.model_dump_json(by_alias=True, exclude_none=True)
    return Frame(
        position=event.position,
        execution_id=event.execution_id,
        organisation=event.organisation,
        stream=event.subject,
        type=event.type,
        data=f"id: {event.position}\ndata: {data}\n\n".encode(),
    )
