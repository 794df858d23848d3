"""How many requests of one organisation are under way at once, in one process and over several."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from runtime.bus.redis_link import redis_client
from runtime.model.course import Course
from runtime.model.limits import MINUTE_S, Limiter, LocalLimiter, RedisLimiter, room_in
from tests.servers import Redis, redis_server

__all__ = ["redis_server"]
pytestmark = pytest.mark.anyio


KEY = "silicon:ledger:org:models"


async def name() -> str:
    return "ledger:org"


class Crowd:
    """Requests that stay as long as the test wants, and how many there were at once."""

    def __init__(self) -> None:
        self.inside, self.most = 0, 0
        self.done = 0
        self.changed = asyncio.Condition()
        self.leave = asyncio.Event()

    async def come(self, limiter: Limiter) -> None:
        async with room_in(limiter, Course()):
            await self._moved(1)
            await self.leave.wait()
            await self._moved(-1)
        self.done += 1

    async def _moved(self, by: int) -> None:
        async with self.changed:
            self.inside += by
            self.most = max(self.most, self.inside)
            self.changed.notify_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(holds)


async def test_so_many_at_once_and_the_others_in_turn() -> None:
    crowd, limiter = Crowd(), LocalLimiter(3)
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(crowd.come(limiter))
        await crowd.until(lambda: crowd.inside == 3)
        crowd.leave.set()
    assert (crowd.most, crowd.done) == (3, 10)


async def test_whoever_gives_up_waiting_takes_no_place() -> None:
    limiter = LocalLimiter(1)
    first = await limiter.acquire()
    waiting = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await limiter.release(first)
    async with asyncio.timeout(5):
        await limiter.acquire()


async def test_a_place_is_given_back_once() -> None:
    limiter = LocalLimiter(1)
    taken = await limiter.acquire()
    await limiter.release(taken)
    await limiter.release(taken)
    await limiter.acquire()
    second = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    assert not second.done()
    second.cancel()


async def test_so_many_begin_in_a_minute() -> None:
    now = [0.0]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    limiter = LocalLimiter(100, per_minute=2, now=lambda: now[0], sleep=sleep)
    for _ in range(5):
        await limiter.acquire()
    assert slept == [MINUTE_S, MINUTE_S]


@pytest.fixture
async def shared(redis_server: Redis) -> AsyncIterator[Callable[..., RedisLimiter]]:
    """Return what makes the limiter of one more process on the same Redis."""
    async with AsyncExitStack() as clients:

        def make(at_once: int, *, held_s: float = 60, timeout_s: float = 5) -> RedisLimiter:
            client = redis_client(f"{redis_server.url}?socket_timeout={timeout_s}")
            clients.push_async_callback(client.aclose)
            return RedisLimiter(client, name, at_once, held_s=held_s)

        yield make


async def test_processes_share_one_limit(shared: Callable[..., RedisLimiter]) -> None:
    crowd = Crowd()
    processes = [shared(2), shared(2), shared(2)]
    async with asyncio.TaskGroup() as group:
        for number in range(9):
            group.create_task(crowd.come(processes[number % 3]))
        await crowd.until(lambda: crowd.inside == 2)
        crowd.leave.set()
    assert (crowd.most, crowd.done) == (2, 9)


async def test_the_place_of_a_process_that_died_is_free_again(
    shared: Callable[..., RedisLimiter], redis_server: Redis
) -> None:
    async def begin_and_die() -> None:
        client = redis_client(redis_server.url)
        await RedisLimiter(client, name, 1, held_s=0.2).acquire()
        await client.aclose()

    await asyncio.to_thread(asyncio.run, begin_and_die())
    async with asyncio.timeout(10):
        await shared(1, held_s=0.2).acquire()


async def test_a_process_that_lives_holds_on_to_its_places(
    shared: Callable[..., RedisLimiter], redis_server: Redis
) -> None:
    limiter, client = shared(2, held_s=0.3), redis_client(redis_server.url)
    taken = [await limiter.acquire(), await limiter.acquire()]
    await limiter.release(taken[1])
    first = till = await client.zscore(KEY, taken[0])
    async with asyncio.timeout(10):
        while till == first:
            till = await client.zscore(KEY, taken[0])
    assert till > first
    assert await client.zscore(KEY, taken[1]) is None
    await limiter.release(taken[0])
    await client.aclose()


async def test_without_redis_each_process_keeps_the_limit_by_itself(
    shared: Callable[..., RedisLimiter], redis_server: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    limiter, crowd = shared(2), Crowd()
    redis_server.kill()
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(crowd.come(limiter))
        await crowd.until(lambda: crowd.inside == 2)
        crowd.leave.set()
    assert (crowd.most, crowd.done) == (2, 4)
    told = Counter(record.name for record in caplog.records)
    assert told["runtime.model.limits"] == 1


async def test_a_redis_that_hangs_is_asked_now_and_then_and_told_afterwards_what_is_free(
    shared: Callable[..., RedisLimiter], redis_server: Redis, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("runtime.model.limits.AWAY_S", 3_600)
    limiter = shared(2, timeout_s=0.2)
    taken = await limiter.acquire()
    redis_server.signal(signal.SIGSTOP)
    await limiter.release(taken)
    for _ in range(1_000):  # at 0.2 s each that would be longer than the test may take
        await limiter.release(await limiter.acquire())
    redis_server.signal(signal.SIGCONT)
    limiter._away_until = 0.0
    await limiter.release(await limiter.acquire())
    assert (await held(redis_server)) == 0
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        "Redis is away", "Redis answers again"
    ]  # fmt: skip


async def held(server: Redis) -> int:
    """Return how many places Redis knows to be taken."""
    client = redis_client(server.url)
    try:
        return int(await client.zcard(KEY))
    finally:
        await client.aclose()


async def test_whoever_is_cancelled_while_redis_answers_leaves_no_place_taken(
    shared: Callable[..., RedisLimiter], redis_server: Redis
) -> None:
    limiter = shared(1)
    await limiter.release(await limiter.acquire())
    redis_server.signal(signal.SIGSTOP)
    waiting = asyncio.create_task(limiter.acquire())
    for _ in range(20):  # until its question is on the way
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    redis_server.signal(signal.SIGCONT)
    async with asyncio.timeout(10):
        await limiter.release(await limiter.acquire())
    assert await held(redis_server) == 0
