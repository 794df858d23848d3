"""A process that ends in good order: steps in progress end, none begins, everything is given back."""

from __future__ import annotations

import asyncio

import pytest

from contracts import StatusReport
from runtime.draining import Draining, Steps
from runtime.executor import ExecutionRun
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.runtime.executor.bodies import Doing, done, for_ever, report, started, types
from tests.runtime.executor.serving import SELDOM, Server, ended

pytestmark = pytest.mark.anyio


class TwoSteps:
    """A body of two steps that a test lets end."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.first_begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def run(self, run: ExecutionRun) -> StatusReport:
        for step in ("one", "two"):
            if step in self.ended:
                continue
            async with run.steps:
                self.begun.append(step)
                self.first_begun.set()
                await self.may_end.wait()
                self.ended.append(step)
        return report(run)


async def test_a_step_in_progress_ends_and_the_next_is_left_to_whoever_comes(store: SqlStore, clock: HandClock) -> None:
    body = TwoSteps()
    server = Server(store, clock, body, SELDOM)
    execution_id = await started(server.executor)
    running = asyncio.create_task(server.service.run_forever())
    await body.first_begun.wait()
    server.service.drain()
    await asyncio.sleep(0)
    assert not running.done()

    body.may_end.set()
    async with asyncio.timeout(60):
        await running

    assert (body.begun, body.ended) == (["one"], ["one"])
    assert await types(store, execution_id) == ["requested", "started"]
    assert await store.leases.live() == []
    other = Server(store, clock, body, SELDOM, holder="host:2")
    async with other.up():
        await ended(other, execution_id)
    assert body.begun == body.ended == ["one", "two"]


async def test_an_execution_whose_last_step_is_in_progress_ends_here(sqlite_store: SqlStore, clock: HandClock) -> None:
    body = TwoSteps()
    body.ended.append("one")
    server = Server(sqlite_store, clock, body, SELDOM)
    execution_id = await started(server.executor)
    running = asyncio.create_task(server.service.run_forever())
    await body.first_begun.wait()
    server.service.drain()
    body.may_end.set()
    async with asyncio.timeout(60):
        await running

    assert await types(sqlite_store, execution_id) == ["requested", "started", "finished"]


@pytest.mark.parametrize("signals", [1, 2])
async def test_what_does_not_end_in_time_or_at_a_second_signal_is_given_back(
    sqlite_store: SqlStore, clock: HandClock, signals: int
) -> None:
    body = TwoSteps()
    settings = SELDOM.model_copy(update={"drain_s": 0.05 if signals == 1 else 60.0})
    server = Server(sqlite_store, clock, body, settings)
    execution_id = await started(server.executor)
    running = asyncio.create_task(server.service.run_forever())
    await body.first_begun.wait()
    for _ in range(signals):
        server.service.drain()
    async with asyncio.timeout(60):
        await running

    assert (body.begun, body.ended) == (["one"], [])
    assert await types(sqlite_store, execution_id) == ["requested", "started"]
    assert await sqlite_store.leases.live() == []


async def test_what_waits_for_something_else_than_a_step_is_not_waited_for(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    doing = Doing(for_ever)  # as one does that waits for a slot
    server = Server(sqlite_store, clock, doing, SELDOM.model_copy(update={"drain_s": 60.0}))
    execution_id = await started(server.executor)
    running = asyncio.create_task(server.service.run_forever())
    await doing.begun.wait()
    server.service.drain()
    async with asyncio.timeout(60):
        await running

    assert await types(sqlite_store, execution_id) == ["requested", "started"]
    assert await sqlite_store.leases.live() == []


async def test_a_service_that_drains_takes_nothing_up(sqlite_store: SqlStore, clock: HandClock) -> None:
    doing = Doing(done)
    server = Server(sqlite_store, clock, doing)
    execution_id = await started(server.executor)
    server.service.drain()
    async with asyncio.timeout(60):
        await server.service.run_forever()

    assert doing.runs == [] and not server.service.ready
    assert await types(sqlite_store, execution_id) == ["requested"]


async def test_the_engine_begins_no_step_while_the_process_drains(sqlite_store: SqlStore, clock: HandClock) -> None:
    draining = Draining()
    tools = [
        Tool("last", lambda arguments, context: draining.begin() or {"done": True}),
        Tool("next", lambda arguments, context: {"done": True}),
    ]
    world = World(sqlite_store, clock, *tools)
    world.steps = Steps(draining)
    order = world.order({"id": "one", "use": "last"}, {"id": "two", "use": "next", "after": ["one"]})
    running = asyncio.create_task(world.run(order))
    async with asyncio.timeout(60):
        while not world.steps.parked:
            draining.changed.clear()
            await draining.changed.wait()
    running.cancel()
    await asyncio.wait([running])

    assert [len(tool.calls) for tool in tools] == [1, 0]
    assert await world.kinds(order) == ["order.accepted", "step.finished"]


async def test_an_order_below_goes_on_until_its_own_step_is_over(sqlite_store: SqlStore, clock: HandClock) -> None:
    draining = Draining()
    world = World(sqlite_store, clock, Tool("last", lambda arguments, context: draining.begin() or {"done": True}))
    world.steps = Steps(draining)
    order = world.order({"id": "one", "by": "analyst", "use": "last"})
    async with asyncio.timeout(60):
        await world.run(order)

    assert not world.steps.parked
    assert (await world.kinds(order))[-1] == "order.finished"
