"""Requests to stop are found by one look for all stretches of a process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.executor.lookout import Lookout
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import done, executor, started

pytestmark = pytest.mark.anyio


async def test_only_whom_a_request_concerns_is_told_of_it(
    sqlite_store: SqlStore, tmp_path: Path, clock: HandClock
) -> None:
    one = executor(sqlite_store, clock, done)
    lookout = Lookout(sqlite_store.ledger)
    here, elsewhere, not_at_all = [await started(one) for _ in range(3)]
    other = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    async with lookout.over(here) as first, lookout.over(elsewhere) as second, lookout.over(not_at_all) as third:
        await one.request_cancel(here, "ana")
        assert first.is_set() and not second.is_set()

        await executor(other, clock, done).request_cancel(elsewhere, "ana")
        async with asyncio.timeout(60):
            await second.wait()
        assert not third.is_set()
    await other.close()


async def test_a_ledger_that_is_away_for_a_while_is_asked_again(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runtime.errors import LedgerUnavailable

    one = executor(sqlite_store, clock, done)
    execution_id = await started(one)
    await one.request_cancel(execution_id, "ana")
    real, asked = sqlite_store.ledger.streams, 0

    async def away_once(*words: str, **more: object) -> list[str]:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise LedgerUnavailable("The ledger is gone.")
        return await real(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(sqlite_store.ledger, "streams", away_once)
    async with asyncio.timeout(60), Lookout(sqlite_store.ledger).over(execution_id) as told:
        await told.wait()

    assert asked == 2
