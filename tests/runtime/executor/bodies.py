"""Bodies of executions for tests: each is one function."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from contracts import ExecutionId, ExecutionRequest, OrderState, StatusReport
from runtime.executor import ExecutionRun, Executor
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings
from tests.fakes.clock import HandClock

FAST = ExecutorSettings(lease_s=15, renew_s=0.01, cancel_grace_s=0.05, cancel_most_s=0.05)
Work = Callable[[ExecutionRun], Awaitable[StatusReport]]


class Doing:
    """A body made of one function, which remembers its runs."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.runs: list[ExecutionRun] = []
        self.begun = asyncio.Event()

    async def run(self, run: ExecutionRun) -> StatusReport:
        self.runs.append(run)
        self.begun.set()
        return await self.work(run)


def report(run: ExecutionRun, state: OrderState = OrderState.DONE, **rest: object) -> StatusReport:
    return StatusReport.model_validate({"order_id": run.root_order_id, "state": state, **rest})


async def done(run: ExecutionRun) -> StatusReport:
    return report(run, output={"answer": 42})


async def for_ever(run: ExecutionRun) -> StatusReport:
    await asyncio.Event().wait()
    return report(run)


def executor(store: SqlStore, clock: HandClock, work: Work, settings: ExecutorSettings = FAST) -> Executor:
    return Executor(store, clock, settings, Doing(work), "host:1")


async def started(executor: Executor, **request: object) -> ExecutionId:
    asked = ExecutionRequest.model_validate(
        {"organisation": "acme", "goal": "find out", "requested_by": "ana", **request}
    )
    return (await executor.submit(asked, "0" * 64, Path("/org"), [b"bundle"])).execution_id


async def types(store: SqlStore, execution_id: ExecutionId) -> list[str]:
    return [event.type.removeprefix("execution.") for event in await store.ledger.read(execution_id)]


async def stop(running: asyncio.Task[StatusReport]) -> None:
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - what is waited for stands in the database
            await asyncio.sleep(0.002)
