"""The connection to Redis, and whether it answers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from contracts import Event
from runtime.addresses import require_quoted
from runtime.errors import SettingsError

if TYPE_CHECKING:
    from redis.asyncio import Redis

T = TypeVar("T")
ANSWER_S = 5.0
"""The longest Redis may take to answer; then it counts as away."""
BACKOFF_MOST_S = 2.0
_NUMBER = re.compile("(?:/[0-9]*)?")
_log = logging.getLogger(__name__)


class RedisAway(Exception):
    """Redis does not answer, or cannot do what it is asked now."""


class NothingThere(Exception):
    """Redis answers, but has nothing of the kind."""


class RedisLink:
    """One client for one ledger. Its stream holds a small entry for each event: the position is the entry's id.

    Entries carry no data, so that an erased payload stands nowhere else and Redis has nothing to hide.
    """

    def __init__(self, url: str, ledger: str, *, kept: int) -> None:
        self.stream = f"silicon:{ledger}:events"
        self.published = 0
        """This process published everything up to here, or gave it up."""
        self._kept = kept
        self._client = redis_client(url)
        self._away = False
        self._tried = 0

    @property
    def address(self) -> str:
        """Where Redis is, for people: without the password."""
        where = self._client.connection_pool.connection_kwargs
        return str(where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}")

    async def describe(self) -> str:
        """Return which Redis answers, and where."""
        told: Any = await self.ask(lambda redis: redis.info("server"))
        return f"Redis {told['redis_version']} at {self.address}"

    async def ask(self, call: Callable[[Redis], Awaitable[T]]) -> T:
        """Return what Redis answers to a call of its client.

        Raises:
            RedisAway: there is no answer, or a refusal that has nothing to do with the call.
            NothingThere: the stream or the group is not there; Redis was emptied.
        """
        from redis.exceptions import RedisError, ResponseError

        try:
            answer = await uncancelled(call(self._client))
        except ResponseError as error:
            if str(error).startswith(("NOGROUP", "no such key")):
                self._answered()
                raise NothingThere(str(error)) from error
            raise self._failed(error) from error
        except (RedisError, OSError, TimeoutError) as error:
            raise self._failed(error) from error
        self._answered()
        return answer

    async def make_group(self, group: str, *, after: int) -> None:
        """Make a consumer group that begins after the position; one that is there stays as it is."""
        from redis.exceptions import ResponseError

        async def make(redis: Redis) -> None:
            try:
                await redis.xgroup_create(self.stream, group, f"{after}-0", mkstream=True)
            except ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise

        await self.ask(make)

    async def publish(self, events: Sequence[Event]) -> None:
        """Add an entry for each event. One that is there, or comes too late, is refused, and that is right."""
        from redis.exceptions import RedisError

        pipeline = self._client.pipeline(transaction=False)
        for event in events:
            pipeline.execute_command(
                "XADD", self.stream, "MAXLEN", "~", self._kept, f"{event.position}-0", "type", event.type
            )
        try:
            answers = await uncancelled(pipeline.execute(raise_on_error=False))
        except (RedisError, OSError, TimeoutError) as error:
            raise self._failed(error) from error
        for answer in answers:
            if isinstance(answer, Exception) and "equal or smaller" not in str(answer):
                raise self._failed(answer) from answer
        self._answered()

    async def back_off(self) -> None:
        """Wait before Redis is asked again."""
        self._tried += 1
        await asyncio.sleep(min(BACKOFF_MOST_S, 0.05 * 2 ** min(self._tried, 10)))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _failed(self, error: Exception) -> RedisAway:
        if not self._away:
            self._away = True
            _log.warning("Redis cannot be used now, events are found by looking into the ledger: %s", error)
        return RedisAway(str(error))

    def _answered(self) -> None:
        self._tried = 0
        if self._away:
            self._away = False
            _log.warning("Redis answers again")


async def uncancelled(call: Awaitable[T]) -> T:
    """Return what the call returns; a cancellation that comes meanwhile is raised, for the client may swallow it."""
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        answer = await call
    except Exception:
        if task.cancelling() > before:
            raise asyncio.CancelledError from None
        raise
    if task.cancelling() > before:
        raise asyncio.CancelledError
    return answer


def redis_client(url: str) -> Redis:
    """Return a client that gives up soon and tries nothing again; raise SettingsError for what is no address."""
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError

    require_quoted(url, name="bus.url", by_standard=True)
    try:
        if not _NUMBER.fullmatch(urlsplit(url).path) and not url.startswith("unix:"):
            raise ValueError("the path is no number of a database")
        client = Redis.from_url(
            url,
            protocol=2,
            decode_responses=True,
            socket_timeout=ANSWER_S,
            socket_connect_timeout=ANSWER_S,
            retry=Retry(NoBackoff(), 0),
        )
        pool: Any = client.connection_pool
        pool.make_connection()  # whose parameters nobody looks at before
    except (TypeError, ValueError, RedisError):
        raise SettingsError(
            "The setting `bus.url` is not an address of Redis. It looks like redis://localhost:6379/0, or "
            "rediss://user:password@host:6379/0 for an encrypted connection; parameters after a `?` are those of "
            "redis-py."
        ) from None  # whose words may repeat a part of the password
    return client


def position_of(entry_id: str) -> int:
    """Return the position that an entry's id stands for."""
    return int(entry_id.partition("-")[0])
