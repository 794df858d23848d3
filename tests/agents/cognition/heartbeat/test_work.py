"""The count of work that advances a goal, and of work that does not."""

from __future__ import annotations

import asyncio

import pytest

from agents.cognition.heartbeat.work import WorkBook
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings.heartbeat import HeartbeatSettings

pytestmark = pytest.mark.anyio


async def begin(store: SqlStore, number: int) -> None:
    event = NewEvent("execution.requested", {"request": {"requested_by": "ana"}})
    await store.ledger.append(Append(f"execution/{number}", [event], 0, "desk", "/organisation/desk"))


async def test_sensors_that_ask_at_once_count_nothing_twice(sqlite_store: SqlStore) -> None:
    book = WorkBook(sqlite_store.ledger, "desk", HeartbeatSettings())
    await book.days()
    for number in range(3):
        await begin(sqlite_store, number)

    await asyncio.gather(*(book.days() for _ in range(5)))

    assert [counts.goal for counts in (await book.days()).values()] == [3]
