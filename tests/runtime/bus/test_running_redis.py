"""On a Redis that runs already, as operators have it: SILICON_TEST_REDIS_URL, else the one on loopback."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from runtime.bus import open_bus
from runtime.bus.identity import ledger_id
from runtime.ledger.store import SqlStore
from runtime.settings import BusSettings
from tests.runtime.bus.messages import fact, take

URL = os.environ.get("SILICON_TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
pytestmark = pytest.mark.anyio


@pytest.fixture
async def running(sqlite_store: SqlStore) -> AsyncIterator[Redis]:
    """A connection to the server; what the test's own ledger left there is taken away in the end."""
    client = Redis.from_url(URL, decode_responses=True)
    try:
        await client.ping()
    except (RedisError, OSError) as error:
        await client.aclose()
        pytest.skip(f"no Redis at {URL.rpartition('@')[2]}: {error}")
    yield client
    async for key in client.scan_iter(match=f"silicon:{await ledger_id(sqlite_store.ledger)}:*"):
        await client.delete(key)
    await client.aclose()


async def test_it_is_told_of_every_commit_and_holds_nothing_of_its_data(sqlite_store: SqlStore, running: Redis) -> None:
    bus, ledger = await open_bus(BusSettings(url=URL), sqlite_store), sqlite_store.ledger
    stream, known = f"silicon:{await ledger_id(ledger)}:events", 0
    async with AsyncExitStack() as closing, asyncio.timeout(30):
        closing.push_async_callback(bus.close)
        while not await running.xread({stream: "0"}, block=50):  # the bus follows the ledger from some commit on
            await ledger.append(fact(known))
            known += 1
        for number in range(known, known + 3):
            await ledger.append(fact(number))

        assert [event.position for event in await take(bus, "*", known, 3)] == [known + 1, known + 2, known + 3]
        entries: list[tuple[str, dict[str, str]]] = []
        while not entries or entries[-1][0] != f"{known + 3}-0":
            entries = await running.xrange(stream)
    assert [entry for entry, _ in entries][-3:] == [f"{known + 1}-0", f"{known + 2}-0", f"{known + 3}-0"]
    assert {name for _, fields in entries for name in fields} == {"type"}
