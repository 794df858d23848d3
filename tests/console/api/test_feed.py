"""One follower for all readers: each gets everything once, in order, and one that sleeps costs nothing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime

import pytest

from console.api import feed as feed_module
from console.api.feed import PAGE, Feed
from contracts import Event, EventId, ExecutionId
from runtime.errors import LedgerUnavailable

pytestmark = pytest.mark.anyio
HASH = "a" * 64


class Ledger:
    """A source of events that counts what is asked of it."""

    def __init__(self) -> None:
        self.stored: list[Event] = []
        self.pulled = self.paged = 0
        self.away = False
        self._grown = asyncio.Event()

    def commit(self, count: int = 1, size: int = 1) -> None:
        for _ in range(count):
            self.stored.append(
                Event(
                    id=EventId.new(), source="/organisation/desk", type="step.finished", subject="order/1",
                    time=datetime.now(UTC), data={"text": "x" * size}, organisation="desk", stream_version=1,
                    position=len(self.stored) + 1, payload_sha256=HASH, chain_sha256=HASH,
                )
            )  # fmt: skip
        self._grown.set()

    async def events(
        self, execution_id: ExecutionId | None, *, after: int, follow: bool
    ) -> AsyncGenerator[Event, None]:
        while True:
            if self.away:
                raise LedgerUnavailable("away")
            self._grown.clear()
            for event in self.stored[after:]:
                self.pulled += 1
                after = event.position
                yield event
            await self._grown.wait()

    async def events_after(
        self, position: int, *, execution_id: ExecutionId | None = None, limit: int
    ) -> Sequence[Event]:
        self.paged += 1
        if self.away:
            raise LedgerUnavailable("away")
        return self.stored[position : position + limit]

    async def head(self) -> int:
        return len(self.stored)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "GATHER_S", 0)
    monkeypatch.setattr(feed_module, "GATHER_READER_S", 0)
    monkeypatch.setattr(feed_module, "RETRY_S", 0)


async def read(feed: Feed, seen: int, until: int) -> list[int]:
    """Read as a stream does; return the positions."""
    got: list[int] = []
    async with asyncio.timeout(20):
        while seen < until:
            batch = await feed.read(seen)
            got += [frame.position for frame in batch.frames]
            assert batch.through >= seen
            seen = batch.through
            if not batch.frames:
                await feed.wait(seen, 5)
    return got


async def test_nothing_is_pulled_while_no_reader_waits() -> None:
    ledger = Ledger()
    feed = Feed(ledger, readers=9)
    with feed.reading():
        reading = asyncio.create_task(read(feed, 0, 1))
        await asyncio.sleep(0)
        ledger.commit()
        assert await reading == [1]
        ledger.commit(5_000)  # the reader sleeps
        for _ in range(20):
            await asyncio.sleep(0)

        assert ledger.pulled <= 2
        assert await read(feed, 1, 5_001) == list(range(2, 5_002))
    await feed.close()


async def test_after_a_long_sleep_the_follower_does_not_go_through_all_that_nobody_waits_for() -> None:
    ledger = Ledger()
    feed = Feed(ledger, readers=9)
    assert await feed.wait(0, 0) is False
    ledger.commit(10_000)
    with feed.reading():
        reading = asyncio.create_task(read(feed, 10_000, 10_003))
        await asyncio.sleep(0)
        ledger.commit(3)

        assert await reading == [10_001, 10_002, 10_003]
    assert ledger.pulled < 10
    await feed.close()


async def test_a_reader_far_behind_reads_pages_and_joins_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "KEPT", 10)
    ledger = Ledger()
    ledger.commit(500)
    feed = Feed(ledger, readers=9)
    with feed.reading(), feed.reading():
        fast = asyncio.create_task(read(feed, 500, 600))
        slow = asyncio.create_task(read(feed, 0, 600))
        for _ in range(100):
            ledger.commit()
            await asyncio.sleep(0)

        assert await fast == list(range(501, 601))
        assert await slow == list(range(1, 601))
    assert ledger.paged >= 500 / PAGE
    await feed.close()


async def test_what_is_kept_is_bounded_in_number_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "KEPT_BYTES", 50_000)
    ledger = Ledger()
    feed = Feed(ledger, readers=9)
    with feed.reading():
        reading = asyncio.create_task(read(feed, 0, 300))
        for _ in range(300):
            ledger.commit(size=2_000)
            await asyncio.sleep(0)

        assert await reading == list(range(1, 301))
        assert sum(len(frame.data) for frame in feed._frames) == feed._bytes <= 50_000
    await feed.close()


async def test_readers_wait_while_the_ledger_is_away_and_go_on_when_it_is_back() -> None:
    ledger = Ledger()
    feed = Feed(ledger, readers=9)
    with feed.reading():
        await feed.read(0)
        ledger.away = True
        reading = asyncio.create_task(read(feed, 0, 3))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not reading.done()
        ledger.away = False
        ledger.commit(3)

        assert await reading == [1, 2, 3]
    await feed.close()


async def test_the_follower_stops_with_the_last_reader_and_begins_again_with_the_next() -> None:
    ledger = Ledger()
    feed = Feed(ledger, readers=9)
    for number in range(3):
        with feed.reading():
            reading = asyncio.create_task(read(feed, number, number + 1))
            await asyncio.sleep(0)
            ledger.commit()
            assert await reading == [number + 1]
    for _ in range(3):
        await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task.get_name() == "feed"] == []
    await feed.close()


async def test_closing_wakes_everybody() -> None:
    feed = Feed(Ledger(), readers=9)
    waiting = [asyncio.create_task(feed.wait(0, 60)) for _ in range(5)]
    await asyncio.sleep(0)
    await feed.close()

    assert await asyncio.gather(*waiting) == [True] * 5
    assert await feed.wait(0, 60) is True


@pytest.mark.parametrize("seed", range(5))
async def test_readers_of_any_speed_get_everything_once_and_in_order(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "KEPT", 20)
    chance = random.Random(seed)
    ledger = Ledger()
    ledger.commit(chance.randrange(200))
    feed = Feed(ledger, readers=99)
    most = len(ledger.stored) + 400

    async def reader(seen: int, sleepy: float) -> bool:
        start, got = seen, []
        with feed.reading():
            while seen < most:
                batch = await feed.read(seen)
                got += [frame.position for frame in batch.frames]
                seen = batch.through
                for _ in range(chance.randrange(40) if chance.random() < sleepy else 0):
                    await asyncio.sleep(0)
                if not batch.frames:
                    await feed.wait(seen, 5)
        return got == list(range(start + 1, most + 1))

    async with asyncio.timeout(30):
        readers = [
            asyncio.create_task(reader(chance.randrange(len(ledger.stored) + 1), sleepy)) for sleepy in (0, 0.1, 0.5, 1)
        ]
        while len(ledger.stored) < most:
            ledger.commit(min(chance.randrange(1, 30), most - len(ledger.stored)))
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
        assert await asyncio.gather(*readers) == [True] * 4
    await feed.close()
