"""A server prunes by itself once a day, at the hour it was given, and one of several does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from console.resources import Resources
from console.server.pruning import LEASE, next_at, prune_daily
from contracts import ExecutionId
from runtime.errors import LedgerUnavailable
from runtime.ledger.port import Lease
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import done, executor, started, until

pytestmark = pytest.mark.anyio
DAY_S = 86_400


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def resources(tmp_path: Path, clock: HandClock) -> AsyncIterator[Resources]:
    given = {"home": str(tmp_path / "home"), "retention.prune_at": "03:30", "retention.executions_days": 1}
    resources = Resources(load(given, working=tmp_path), clock)
    yield resources
    await resources.close()


@asynccontextmanager
async def pruning(resources: Resources) -> AsyncIterator[None]:
    task = asyncio.create_task(prune_daily(resources, look_s=0.01))
    await asyncio.sleep(0)  # from now on it knows when it is due
    try:
        yield
    finally:
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])


async def ended(store: SqlStore, clock: HandClock) -> ExecutionId:
    one = executor(store, clock, done)
    execution_id = await started(one)
    await one.run(execution_id)
    return execution_id


def gone(store: SqlStore, execution_id: ExecutionId) -> Callable[[], Awaitable[bool]]:
    async def is_gone() -> bool:
        return await store.ledger.read(execution_id) == []

    return is_gone


@pytest.mark.parametrize(
    ("now", "then"), [("02:00", "2013-02-08 03:30"), ("03:30", "2013-02-09 03:30"), ("22:00", "2013-02-09 03:30")]
)
def test_it_is_due_the_next_time_that_it_is_that_hour(now: str, then: str) -> None:
    moment = datetime.fromisoformat(f"2013-02-08 {now}").replace(tzinfo=UTC)

    assert next_at(moment, "03:30") == datetime.fromisoformat(then).replace(tzinfo=UTC)


async def test_what_is_old_goes_at_that_hour_each_day(resources: Resources, clock: HandClock) -> None:
    store = await resources.store()
    first = await ended(store, clock)
    clock.advance(2 * DAY_S)
    async with pruning(resources):
        assert await store.ledger.read(first) != []
        clock.advance(DAY_S)
        await until(gone(store, first))
        second = await ended(store, clock)
        clock.advance(2 * DAY_S)
        await until(gone(store, second))


async def test_one_of_several_servers_prunes(
    resources: Resources, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await resources.store()
    old = await ended(store, clock)
    await store.leases.acquire(LEASE, "elsewhere:1", 10 * DAY_S)
    refused, acquire = asyncio.Event(), store.leases.acquire

    async def told(*words: Any) -> Lease | None:
        lease = await acquire(*words)
        asyncio.get_running_loop().call_soon(refused.set)  # once it has gone on
        return lease

    monkeypatch.setattr(store.leases, "acquire", told)
    async with pruning(resources):
        clock.advance(2 * DAY_S)
        await refused.wait()
        assert await store.ledger.read(old) != []


async def test_a_ledger_that_is_away_puts_it_off_to_the_next_day(
    resources: Resources, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await resources.store()
    old = await ended(store, clock)
    tried, acquire = asyncio.Event(), store.leases.acquire

    async def away(*words: Any) -> None:
        tried.set()
        monkeypatch.setattr(store.leases, "acquire", acquire)
        raise LedgerUnavailable("The ledger is gone.")

    monkeypatch.setattr(store.leases, "acquire", away)
    async with pruning(resources):
        clock.advance(2 * DAY_S)
        await tried.wait()
        assert await store.ledger.read(old) != []
        clock.advance(DAY_S)
        await until(gone(store, old))


async def test_a_server_that_was_given_no_hour_leaves_it_to_the_operator(tmp_path: Path) -> None:
    async with asyncio.timeout(60):  # it would go on for ever
        await prune_daily(Resources(load({"home": str(tmp_path)}, working=tmp_path)))

    assert not list(tmp_path.glob("*"))  # noqa: ASYNC240
