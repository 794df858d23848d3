"""Redis is killed in the middle of 10,000 events and comes back empty; workers are killed; everything ends once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from contracts import Event
from runtime.bus import Bus, open_bus
from runtime.bus.redis_sharing import ROOM
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append
from runtime.ledger.store import SqlStore
from runtime.settings import BusSettings, LedgerSettings
from tests.runtime.bus.messages import Seen, fact, members, receipted, settled, take
from tests.runtime.bus.worker import MEMBERS
from tests.servers import Redis, redis_server

__all__ = ["redis_server"]
pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("redis")]
WORKER = Path(__file__).with_name("worker.py")
ROOT = Path(__file__).parents[3]
EVENTS = 10_000


@asynccontextmanager
async def a_process(home: Path, settings: BusSettings) -> AsyncGenerator[tuple[SqlStore, Bus], None]:
    """A store and a bus such as another process has."""
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=SystemClock())
    bus = await open_bus(settings, store)
    try:
        yield store, bus
    finally:
        await bus.close()
        await store.close()


async def test_every_subscriber_and_group_ends_with_every_event_once(redis_server: Redis, tmp_path: Path) -> None:
    settings = BusSettings(url=redis_server.url, stale_s=2)
    group, half = Seen(), asyncio.Event()

    async def handle(event: Event) -> Sequence[Append]:
        group.add(event)
        if event.position > EVENTS // 2:
            half.set()
        return ()

    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(a_process(tmp_path, settings)) for _ in range(2)]
        for _, bus in (first, second):
            await stack.enter_async_context(members(bus, handle, count=2))
        subscribers = [asyncio.create_task(take(bus, "*", 0, EVENTS)) for _, bus in (first, second) for _ in range(3)]
        writing = asyncio.create_task(write(first[0], EVENTS))
        await group.count(EVENTS // 4)
        await asyncio.to_thread(redis_server.kill)
        await writing
        await half.wait()
        await asyncio.to_thread(redis_server.start)
        for taken in await asyncio.gather(*subscribers):
            assert [event.position for event in taken] == list(range(1, EVENTS + 1))
        await settled(first[0].ledger, EVENTS)

    assert set(group.positions) == set(range(1, EVENTS + 1))


@pytest.mark.parametrize("store_url", ["sqlite", "mysql"], indirect=True)
async def test_what_a_killed_worker_had_in_hand_is_done_by_the_other(
    store: SqlStore, store_url: str, redis_server: Redis
) -> None:
    workers = [await worker(store_url, redis_server.url) for _ in range(2)]
    try:
        told = [[await next_of(process)] for process in workers]
        killed = asyncio.Event()
        writing = asyncio.create_task(write_until(killed, store))
        for _ in range(10):
            told[0].append(await next_of(workers[0]))
        workers[0].send_signal(signal.SIGKILL)
        killed.set()
        count = await writing
        handled = await receipted(store.ledger, count)
    finally:
        rest = [await end(process) for process in workers]

    assert len(handled) == len(set(handled)) == count
    given = Counter(told[0][1:] + rest[0] + rest[1])
    in_hand = MEMBERS + ROOM  # of a process that stood still for too long, dead or not
    assert set(given) == set(handled) and given.total() <= count + 2 * in_hand


async def write(store: SqlStore, count: int) -> None:
    for start in range(0, count, 50):
        await store.ledger.append(*(fact(number) for number in range(start, start + 50)))


async def write_until(killed: asyncio.Event, store: SqlStore) -> int:
    """Write until then, and 300 at least: whoever is slow to begin gets some too. Return how many."""
    count = 0
    while count < 300 or not killed.is_set():
        await store.ledger.append(*(fact(number) for number in range(count, count + 5)))
        count += 5
    return count


async def worker(database: str, redis: str) -> Process:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return await asyncio.create_subprocess_exec(
        sys.executable, str(WORKER), database, redis, "1", env=environment, stdout=PIPE
    )


async def next_of(process: Process) -> int:
    """The next event that the process tells of."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return int(await process.stdout.readline())


async def end(process: Process) -> list[int]:
    """End the process; return what it told since."""
    if process.returncode is None:
        process.kill()
    assert process.stdout is not None
    said = await process.stdout.read()
    await process.wait()
    return [int(line) for line in said.split()]
