"""Executions that are asked to stop, by whatever process: whoever holds them hears of it, else it is done at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from contracts import OrderState, StatusReport
from runtime.errors import LedgerUnavailable
from runtime.executor import ExecutionRun, ExecutionState, Executor
from runtime.executor.lookout import LOOK_S
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings, LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import FAST, Doing, done, executor, for_ever, report, started, stop, types, until

pytestmark = pytest.mark.anyio


async def test_an_execution_that_nobody_runs_is_cancelled_at_once(store: SqlStore, clock: HandClock) -> None:
    one = executor(store, clock, done)
    execution_id = await started(one)

    view = await one.cancel(execution_id, "ana")
    again = await one.cancel(execution_id, "ben")

    assert view == again and view.report is not None and view.report.state is OrderState.CANCELLED
    assert await types(store, execution_id) == ["requested", "cancel_requested", "finished"]
    assert (await one.run(execution_id)).state is OrderState.CANCELLED


async def test_a_running_body_is_told_to_stop_and_its_report_holds(store: SqlStore, clock: HandClock) -> None:
    async def stop_when_told(run: ExecutionRun) -> StatusReport:
        await until(lambda: told(run))
        return report(run, OrderState.CANCELLED, progress=0.5)

    doing = Doing(stop_when_told)
    settings = ExecutorSettings(cancel_grace_s=5)
    one = Executor(store, clock, settings, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    view = await one.cancel(execution_id, "ana")

    async with asyncio.timeout(60):
        ended = await running
    assert (view.state, view.cancel_requested_by) == (ExecutionState.RUNNING, "ana")
    assert (ended.state, ended.progress) == (OrderState.CANCELLED, 0.5)


async def test_a_body_that_does_not_listen_is_stopped_after_its_grace(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(for_ever)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    await one.cancel(execution_id, "ana")

    async with asyncio.timeout(60):
        assert (await running).state is OrderState.CANCELLED
    assert (await one.view(execution_id)).state is ExecutionState.FINISHED


async def test_a_cancel_from_another_process_is_noticed_by_the_next_look(
    sqlite_store: SqlStore, tmp_path: Path, clock: HandClock
) -> None:
    assert LOOK_S <= 0.5
    doing = Doing(for_ever)
    one = Executor(sqlite_store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()
    other = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    try:
        await executor(other, clock, done).cancel(execution_id, "ana")
    finally:
        await other.close()

    async with asyncio.timeout(60):
        assert (await running).state is OrderState.CANCELLED


async def test_a_waiting_execution_that_is_cancelled_gets_to_take_back_what_it_did(
    store: SqlStore, clock: HandClock
) -> None:
    async def wait_or_take_back(run: ExecutionRun) -> StatusReport:
        return report(run, OrderState.CANCELLED if run.cancelled() else OrderState.WAITING)

    doing = Doing(wait_or_take_back)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    await one.run(execution_id)

    view = await one.cancel(execution_id, "ana")

    assert view.report is not None and view.report.state is OrderState.CANCELLED
    assert [run.cancelled() for run in doing.runs] == [False, True]


async def told(run: ExecutionRun) -> bool:
    return run.cancelled()


async def test_one_that_a_process_of_this_machine_left_when_it_died_is_cancelled_at_once(
    sqlite_store: SqlStore, clock: HandClock, dead_holder: str
) -> None:
    one = executor(sqlite_store, clock, done)
    execution_id = await started(one)
    await sqlite_store.leases.acquire(execution_id, dead_holder, 15)

    view = await one.cancel(execution_id, "ana")

    assert view.report is not None and view.report.state is OrderState.CANCELLED


@pytest.mark.parametrize("waits", [True, False])
async def test_a_branch_of_what_nobody_works_on_is_taken_out_and_the_rest_goes_on(
    store: SqlStore, clock: HandClock, *, waits: bool
) -> None:
    async def leave_then_end(run: ExecutionRun) -> StatusReport:
        if run.resumed:
            return report(run)
        if waits:
            return report(run, OrderState.WAITING)
        raise LedgerUnavailable("The ledger is locked.")

    doing = Doing(leave_then_end)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    with suppress(LedgerUnavailable):
        await one.run(execution_id)

    view = await one.cancel_branch(execution_id, "look/first", "ana")

    assert view.report is not None and view.report.state is OrderState.DONE
    assert list(doing.runs[-1].cancelled_branches()) == ["look/first"]


async def test_a_branch_of_what_another_process_works_on_is_left_to_that_one(store: SqlStore, clock: HandClock) -> None:
    doing = Doing(for_ever)
    one = Executor(store, clock, FAST, doing, "host:1")
    execution_id = await started(one)
    running = asyncio.create_task(one.run(execution_id))
    await doing.begun.wait()

    view = await executor(store, clock, done).cancel_branch(execution_id, "look/first", "ana")
    await until(lambda: told_of_a_branch(doing.runs[0]))
    await stop(running)

    assert view.state is ExecutionState.RUNNING and len(doing.runs) == 1


async def told_of_a_branch(run: ExecutionRun) -> bool:
    return bool(run.cancelled_branches())
