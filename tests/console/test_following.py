"""Staying with an execution that somebody else works on: every event once, in order, until it is free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from console.following import following
from contracts import Event, ExecutionId
from runtime.executor.holder import this_process
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
ID = ExecutionId("execution/01JB0000000000000000000XEC")


@pytest.fixture
async def other(sqlite_store: SqlStore, tmp_path: Path, clock: HandClock) -> AsyncIterator[SqlStore]:
    """The store as another process has it."""
    store = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    yield store
    await store.close()


async def write(store: SqlStore, version: int, *, execution_id: ExecutionId | None = ID) -> None:
    stream = f"order/{version}" if execution_id is None else str(execution_id)
    expected = 0 if execution_id is None else version
    await store.ledger.append(
        Append(stream, [NewEvent(f"step.number{version}")], expected, "acme", "/test", execution_id=execution_id)
    )


async def test_what_another_process_does_is_told_once_until_it_lets_go(sqlite_store: SqlStore, other: SqlStore) -> None:
    told: list[int] = []
    third = asyncio.Event()

    def watch(event: Event) -> None:
        told.append(event.stream_version)
        if len(told) == 3:
            third.set()

    await write(other, 0)  # before anybody looks
    lease = await other.leases.acquire(ID, this_process(), 60)
    assert lease is not None
    async with following(sqlite_store, ID, watch) as follower:
        await write(sqlite_store, 1)
        free = asyncio.create_task(follower.until_free())
        await write(other, 2)
        await write(other, 0, execution_id=None)
        await write(other, 3)
        async with asyncio.timeout(60):
            await third.wait()
        assert not free.done()
        await write(other, 4)
        await other.leases.release(lease)
        async with asyncio.timeout(60):
            await free
        follower.listen()
        await write(sqlite_store, 5)

    await write(sqlite_store, 6)
    assert told == [2, 3, 4, 5, 6]


async def test_a_holder_that_is_dead_holds_nothing(sqlite_store: SqlStore) -> None:
    host, machine, pid, started = this_process().split("/")
    await sqlite_store.leases.acquire(ID, "/".join((host, machine, pid, str(int(started) - 1), "ab")), 60)

    async with asyncio.timeout(60), following(sqlite_store, ID, lambda event: None) as follower:
        await follower.until_free()


async def test_what_others_do_for_this_process_is_told_in_the_order_of_all(
    sqlite_store: SqlStore, other: SqlStore
) -> None:
    told: list[int] = []
    both = asyncio.Event()

    def watch(event: Event) -> None:
        told.append(event.stream_version)
        if len(told) == 2:
            both.set()

    async with following(sqlite_store, ID, watch, by_others=True):
        await write(other, 0)
        await write(sqlite_store, 1)
        async with asyncio.timeout(60):
            await both.wait()
        await write(other, 2)  # told at the end, however soon that is

    await write(other, 3)
    assert told == [1, 2, 3]
