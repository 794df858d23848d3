"""How many steps of a plan run at once, seen from the capability that they call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from contracts import OrderState, TaskOrder
from runtime.engine.pace import Pace
from runtime.engine.resume import open_view
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


class Crowd:
    """Work that goes on until as many are at it as the test wants to see together."""

    def __init__(self, wanted: Callable[[int], int]) -> None:
        self.begun: list[str] = []
        self.most = 0
        self._wanted = wanted
        self._at_work = 0
        self._changed = asyncio.Condition()

    async def __call__(self, arguments: Any, context: Any) -> dict[str, Any]:
        async with self._changed:
            self.begun.append(context.step)
            wanted = self._wanted(len(self.begun))
            self._at_work += 1
            self.most = max(self.most, self._at_work)
            self._changed.notify_all()
            async with asyncio.timeout(10):
                await self._changed.wait_for(lambda: self.most >= wanted)
            self._at_work -= 1
        return {}


def order_of(world: World, count: int, dispatch: str) -> TaskOrder:
    steps = [{"id": f"s{n}", "use": "work", "with": {"n": n}} for n in range(count)]
    return world.order(*steps, plan={"dispatch": dispatch})


async def test_a_sequential_plan_does_one_step_after_the_other_as_declared(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    crowd = Crowd(lambda begun: 1)
    world = World(sqlite_store, clock, Tool("work", crowd))

    await world.run(order_of(world, 6, "sequential"))

    assert (crowd.begun, crowd.most) == ([f"s{n}" for n in range(6)], 1)


async def test_a_parallel_plan_does_everything_that_is_ready_up_to_the_setting(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    crowd = Crowd(lambda begun: 6)
    world = World(sqlite_store, clock, Tool("work", crowd), dispatch_at_once=6)

    await world.run(order_of(world, 8, "parallel"))

    assert crowd.most == 6


async def test_an_adaptive_plan_begins_with_four_and_grows_as_steps_are_done(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    crowd = Crowd(lambda begun: 4 if begun <= 4 else 7)
    world = World(sqlite_store, clock, Tool("work", crowd), dispatch_most=7)
    order = order_of(world, 14, "adaptive")

    report = await world.run(order)

    assert (report.state, crowd.most) == (OrderState.DONE, 7)
    assert crowd.begun[:4] == ["s0", "s1", "s2", "s3"]
    assert "dispatch.narrowed" not in await world.kinds(order)


class Limited:
    """The first step meets a rate limit while three others are at work; all go on when it is tried again."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.when_tried_again: list[str] = []
        self.again = asyncio.Event()
        self._together = asyncio.Barrier(4)

    async def __call__(self, arguments: Any, context: Any) -> Any:
        self.begun.append(context.step)
        if len(self.begun) <= 4:
            await asyncio.wait_for(self._together.wait(), 10)
            if context.step == "s0":
                return NetworkFault("slow down", retry_after_s=1)
        if context.step == "s0":
            self.when_tried_again = list(self.begun)
            self.again.set()
        if context.step != "s1":
            await asyncio.wait_for(self.again.wait(), 10)
        return {}


async def narrowed(store: SqlStore, order: TaskOrder) -> list[Any]:
    events = await store.ledger.read(str(order.order_id))
    return [event.data for event in events if event.type == "dispatch.narrowed"]


async def test_a_rate_limit_halves_what_may_be_at_work_and_the_ledger_says_why(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    limited = Limited()
    world = World(sqlite_store, clock, Tool("work", limited))
    order = order_of(world, 10, "adaptive")

    await world.run(order)

    assert sorted(limited.when_tried_again) == ["s0", "s0", "s1", "s2", "s3"]  # s1 is done, and nothing took its place
    assert await narrowed(sqlite_store, order) == [{"from": 4, "to": 2, "because": "rate limit: NETWORK_FAULT"}]


async def test_a_parallel_plan_stays_as_wide_after_a_failure(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("work", Limited()))
    order = order_of(world, 10, "parallel")

    report = await world.run(order)

    assert report.state is OrderState.DONE
    assert await narrowed(sqlite_store, order) == []


async def test_whoever_goes_on_with_the_order_begins_as_narrow_as_it_was(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("work", Limited()))
    order = order_of(world, 10, "adaptive")
    await world.run(order)

    view = await open_view(sqlite_store.ledger, str(order.order_id))

    assert view.recent.since > 0  # it was told by way of a snapshot
    assert Pace.of(order.plan.dispatch, world.settings, narrowed=view.narrowed).width == 2
