"""What a server relies on: no claim, no run; requests are recorded, and whoever is first carries them out."""

from __future__ import annotations

import asyncio

import pytest

from contracts import CardId, OrderState, StatusReport
from runtime.draining import Draining
from runtime.executor import ExecutionRun, ExecutionState, Executor
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import FAST, Doing, done, executor, for_ever, report, started, stop, types

pytestmark = pytest.mark.anyio


async def test_of_two_that_saw_the_same_execution_only_the_one_with_the_claim_runs_it(
    store: SqlStore, clock: HandClock
) -> None:
    doing = Doing(done)
    two = [Executor(store, clock, FAST, doing, f"host:{number}") for number in range(2)]
    execution_id = await started(two[0])
    barrier = asyncio.Barrier(2)

    async def sweep(one: Executor) -> StatusReport | None:
        (seen,) = await one.list(unfinished_only=True)
        await barrier.wait()
        return await one.take_up(seen, "orphaned")

    reports = await asyncio.gather(*map(sweep, two))

    assert len(doing.runs) == 1
    assert sorted(each is None for each in reports) == [False, True]
    assert await types(store, execution_id) == ["requested", "started", "finished"]


async def test_what_moved_on_since_it_was_seen_is_left_alone(store: SqlStore, clock: HandClock) -> None:
    async def ask(run: ExecutionRun) -> StatusReport:
        return report(run, OrderState.WAITING, waiting_for=(CardId.new(),))

    doing = Doing(ask)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    seen = await one.view(execution_id)
    await one.take_up(seen, "asked")

    assert await one.take_up(seen, "asked") is None
    assert len(doing.runs) == 1
    assert await types(store, execution_id) == ["requested", "started", "waiting"]
    assert await store.leases.live() == []


async def test_a_process_that_drains_takes_nothing_up(sqlite_store: SqlStore, clock: HandClock) -> None:
    draining = Draining()
    one = Executor(sqlite_store, clock, FAST, Doing(done), "host:1", draining=draining)
    execution_id = await started(one)
    draining.begin()

    assert await one.take_up(await one.view(execution_id), "asked") is None
    assert await types(sqlite_store, execution_id) == ["requested"]
    assert await sqlite_store.leases.live() == []


async def test_a_request_to_cancel_is_carried_out_by_whoever_takes_it_up(store: SqlStore, clock: HandClock) -> None:
    one = executor(store, clock, done)
    execution_id = await started(one)

    asked = await one.request_cancel(execution_id, "ana")
    again = await one.request_cancel(execution_id, "ben")
    ended = await one.take_up(again, "cancelled")

    assert (asked, again.cancel_requested_by, again.report) == (again, "ana", None)
    assert ended is not None and ended.state is OrderState.CANCELLED
    assert await types(store, execution_id) == ["requested", "cancel_requested", "finished"]


async def test_a_request_to_cancel_what_has_ended_changes_nothing(sqlite_store: SqlStore, clock: HandClock) -> None:
    one = executor(sqlite_store, clock, done)
    execution_id = await started(one)
    await one.run(execution_id)

    assert (await one.request_cancel(execution_id, "ana")).cancel_requested_by is None


async def test_a_stretch_that_comes_to_wait_when_it_was_just_cancelled_takes_back_what_it_did(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async def cancelled_at_the_end(run: ExecutionRun) -> StatusReport:
        if run.cancelled():
            return report(run, OrderState.CANCELLED, output="taken back")
        await executor(sqlite_store, clock, done).request_cancel(run.execution_id, "ana")
        return report(run, OrderState.WAITING, waiting_for=(CardId.new(),))

    doing = Doing(cancelled_at_the_end)
    one = Executor(sqlite_store, clock, FAST, doing, "host:1")
    ended = await one.run(await started(one))

    assert (ended.state, ended.output) == (OrderState.CANCELLED, "taken back")
    assert [run.resumed for run in doing.runs] == [False, True]


async def test_a_request_to_go_on_outlives_the_process_that_first_took_it_up(store: SqlStore, clock: HandClock) -> None:
    ends = iter([OrderState.FAILED, None, OrderState.DONE])

    async def work(run: ExecutionRun) -> StatusReport:
        state = next(ends)
        return await for_ever(run) if state is None else report(run, state)

    doing = Doing(work)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    await one.run(execution_id)
    doing.begun.clear()
    asked = await one.request_reopening(execution_id, "ana")
    interrupted = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    interrupted.cancel()
    await asyncio.wait([interrupted])
    await one.run(execution_id)

    assert (asked.state, asked.report) == (ExecutionState.RUNNING, None)
    assert [run.reopened for run in doing.runs] == [False, True, True]
    assert (await one.view(execution_id)).reopened is False
    assert (await types(store, execution_id))[:4] == ["requested", "started", "finished", "reopened"]


async def test_what_is_done_or_goes_on_is_not_reopened(sqlite_store: SqlStore, clock: HandClock) -> None:
    one = executor(sqlite_store, clock, done)
    execution_id = await started(one)
    await one.request_reopening(execution_id, "ana")
    await one.run(execution_id)
    await one.request_reopening(execution_id, "ana")

    assert await types(sqlite_store, execution_id) == ["requested", "started", "finished"]


async def test_a_lease_that_could_not_be_given_back_is_given_back_later(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing = Doing(for_ever)
    one = Executor(sqlite_store, clock, FAST, doing, "host:1")
    running = asyncio.create_task(one.run(await started(one)))
    await doing.begun.wait()
    with monkeypatch.context() as away:
        away.setattr(sqlite_store.leases, "release", refuse)
        await stop(running)
    assert len(await sqlite_store.leases.live()) == 1

    await one.release_left()

    assert await sqlite_store.leases.live() == []


async def refuse(lease: object) -> None:
    from runtime.errors import LedgerUnavailable

    raise LedgerUnavailable("The ledger is away.")
