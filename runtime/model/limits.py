"""How many requests to models are under way at once, and how many begin in a minute, for one organisation."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from runtime.bus.redis_link import uncancelled
from runtime.model.course import Course

if TYPE_CHECKING:
    from redis.asyncio import Redis

MINUTE_S = 60.0
AGAIN_S = 0.05
"""How often a process looks whether there is room again, where others have it: Redis tells nobody."""
AWAY_S = 1.0
"""How long Redis is not asked again after it did not answer."""
_log = logging.getLogger(__name__)


class Limiter(Protocol):
    """Lets requests begin when there is room."""

    async def acquire(self) -> str:
        """Wait for room and take it; return what gives it back."""
        ...

    async def release(self, taken: str) -> None:
        """Give the room back; twice does no harm."""
        ...


class LocalLimiter:
    """The limit of one process: who came first goes first."""

    def __init__(self, at_once: int, *, per_minute: int = 0, now: Callable[[], float] = time.monotonic,
                 sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:  # fmt: skip
        """Take the limits over; `per_minute` 0 is none."""
        self._room = asyncio.Semaphore(at_once)
        self._per_minute = per_minute
        self._now, self._sleep = now, sleep
        self._begun: deque[float] = deque(maxlen=per_minute or 1)
        self._taken: set[str] = set()
        self._turn = asyncio.Lock()

    async def acquire(self) -> str:
        """Wait for room and take it; see the port."""
        await self._room.acquire()
        try:
            await self._pace()
        except BaseException:
            self._room.release()
            raise
        taken = secrets.token_hex(8)
        self._taken.add(taken)
        return taken

    async def release(self, taken: str) -> None:
        """Give the room back; see the port."""
        if taken in self._taken:
            self._taken.discard(taken)
            self._room.release()

    async def _pace(self) -> None:
        """Return once less than `per_minute` began in the last minute."""
        if not self._per_minute:
            return
        async with self._turn:
            if len(self._begun) == self._per_minute:
                wait_s = self._begun[0] + MINUTE_S - self._now()
                if wait_s > 0:
                    await self._sleep(wait_s)
            self._begun.append(self._now())


_TAKE = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', at - 60000)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
if tonumber(ARGV[3]) > 0 and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], at + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4] * 2)
if tonumber(ARGV[3]) > 0 then
  redis.call('ZADD', KEYS[2], at, ARGV[1])
  redis.call('PEXPIRE', KEYS[2], 120000)
end
return 1
"""
"""Takes one place of so many, atomically and by the clock of Redis. A place that nobody holds on to is free again after
`held_s`; both keys vanish by themselves."""

_KEEP = """
local now = redis.call('TIME')
local till = now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[1]
for place = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', till, ARGV[place]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1] * 2)
"""
"""Holds on to places that are taken; one that was given back meanwhile stays free."""


class RedisLimiter:
    """The limit of all processes of an organisation. Where Redis is away, each process keeps the limit by itself."""

    def __init__(self, redis: Redis, name: Callable[[], Awaitable[str]], at_once: int, *, per_minute: int = 0,
                 held_s: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:  # fmt: skip
        """Take the limits over.

        Args:
            name: tells what the limit is for, one organisation of one ledger; asked once.
            held_s: after how long the place of a process that died is free; one that lives holds on to its own.
        """
        self._redis = redis
        self._name = name
        self._keys: tuple[str, ...] = ()
        self._limits = [str(at_once), str(per_minute), str(round(held_s * 1_000))]
        self._held_s = held_s
        self._held: set[str] = set()
        self._owed: set[str] = set()
        """Places that are free, of which Redis may not know yet."""
        self._keeper: asyncio.Task[None] | None = None
        self._alone = LocalLimiter(at_once, per_minute=per_minute)
        self._sleep = sleep
        self._away = False
        self._away_until = 0.0

    async def acquire(self) -> str:
        """Wait for room and take it; see the port. What this process may do by itself bounds it in any case."""
        taken = await self._alone.acquire()
        try:
            await self._pay()
            while not await self._took(taken):
                await self._sleep(AGAIN_S)
        except BaseException:
            self._owed.add(taken)  # Redis may have given it just then
            await self._alone.release(taken)
            raise
        self._held.add(taken)
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._hold_on())
        return taken

    async def release(self, taken: str) -> None:
        """Give the room back; see the port."""
        self._held.discard(taken)
        if not self._held and self._keeper is not None:
            self._keeper.cancel()
            self._keeper = None
        await self._alone.release(taken)
        self._owed.add(taken)
        await self._pay()

    async def _pay(self) -> None:
        """Tell Redis which places are free; those that it was not there for are told with the next."""
        owed = list(self._owed)
        if owed and self._keys and await self._ask(lambda: self._redis.zrem(self._keys[0], *owed)) is not None:
            self._owed.difference_update(owed)

    async def _took(self, taken: str) -> bool:
        if not self._keys:
            key = f"silicon:{await self._name()}:models"
            self._keys = (key, f"{key}:minute")
        took = await self._ask(lambda: self._redis.eval(_TAKE, len(self._keys), *self._keys, taken, *self._limits))
        return took is None or bool(took)

    async def _hold_on(self) -> None:
        """Hold on to the places of this process as long as it has any."""
        while True:
            await self._sleep(self._held_s / 3)
            await self._ask(lambda: self._redis.eval(_KEEP, 1, self._keys[0], self._limits[2], *self._held))

    async def _ask(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Return what Redis answers, None while it is away: then it is asked now and then only, for it may hang."""
        from redis.exceptions import RedisError

        loop = asyncio.get_running_loop()
        if self._away and loop.time() < self._away_until:
            return None
        try:
            answer = await uncancelled(call())
        except (RedisError, OSError) as error:
            if not self._away:
                _log.warning("Redis is away, so each process limits its requests to models by itself: %s", error)
            self._away, self._away_until = True, loop.time() + AWAY_S
            return None
        if self._away:
            _log.warning("Redis answers again, and the processes share one limit of requests to models.")
        self._away = False
        return answer


@asynccontextmanager
async def room_in(limiter: Limiter, course: Course) -> AsyncIterator[None]:
    """Hold a place while the block runs; the course is told how long it was waited for."""
    with course.waiting():
        taken = await limiter.acquire()
    try:
        yield
    finally:
        await asyncio.shield(limiter.release(taken))
