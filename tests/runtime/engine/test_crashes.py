"""The process dies at every append in turn, before and after the commit; the next one goes on from there."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition, StatusReport, TaskOrder
from runtime.engine.view import OrderView
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio

STEPS: tuple[dict[str, Any], ...] = (
    {"id": "read", "use": "read", "output": "blackboard"},
    {"id": "each", "for_each": "{{ read.items }}", "use": "echo", "with": {"x": "{{ item }}", "at": "{{ index }}"}},
    {"id": "grow", "use": "count", "with": {"i": "{{ index }}"}, "until": {"check": "n >= 2", "most": 5}},
    {
        "id": "both",
        "parallel": [
            {"id": "bad", "use": "refuse"},
            {"id": "long", "use": "echo", "always_store": True, "with": {"v": "{{ read.items }}"}},
        ],
    },
    {"id": "never", "use": "echo", "when": "grow.n > 100"},
    {"id": "below", "by": "clerk", "skill": "act", "with": {"n": "{{ grow.n }}"}},
    {"id": "pay", "use": "pay", "after": ["both"], "with": {"amount": "{{ each[1].x }}"}},
)
BELOW = {
    "parameters": {"n": {"type": "integer"}},
    "steps": [
        {"id": "one", "use": "echo", "with": {"n": "{{ n }}"}},
        {"id": "two", "use": "pay", "with": {"amount": "{{ one.n }}"}},
    ],
}
GIVES = {
    "each": "{{ each }}",
    "n": "{{ grow.n }}",
    "long": "{{ both.long.v }}",
    "paid": "{{ pay }}",
    "below": "{{ below }}",
}


def world_of(store: Any, clock: HandClock, *, can_look_up: bool) -> World:
    from runtime.errors import PermissionRefused

    world = World(
        store,
        clock,
        Tool("read", lambda a, c: {"items": [5, 6, 7]}),
        Tool("echo", lambda a, c: dict(a)),
        Tool("count", lambda a, c: {"n": a["i"]}),
        Tool("refuse", lambda a, c: PermissionRefused("no")),
        Tool("pay", lambda a, c: {"paid": a["amount"]}, Effect.WRITE, can_look_up=can_look_up),
        dispatch_at_once=2,
    )
    world.skills["act"] = PlanDefinition.model_validate(BELOW)
    return world


def an_order(world: World) -> TaskOrder:
    return world.order(*STEPS, plan={"gives": GIVES})


async def whole_run(store: SqlStore, clock: HandClock) -> tuple[StatusReport, int]:
    counting = CrashingStore(store)
    world = world_of(counting, clock, can_look_up=True)
    return await world.run(an_order(world)), counting.ledger.appends


async def crashed(world: World, order: TaskOrder) -> bool:
    """Run until the store dies; False where the run ended before: steps side by side share more appends or fewer."""
    try:
        await world.run(order)
    except Crash:
        return True
    return False


async def finished_once(world: World, view: OrderView, order: TaskOrder) -> bool:
    events = [e for e in await world.store.ledger.read(str(order.order_id)) if e.type == "step.finished"]
    units = Counter((str(e.data["step"]), e.data["index"]) for e in events if e.data)
    return set(units.values()) == {1} and len(units) == len(view.finished)


@pytest.mark.timeout(120)
async def test_the_result_is_the_same_wherever_the_process_died(sqlite_store: SqlStore, clock: HandClock) -> None:
    expected, appends = await whole_run(sqlite_store, clock)
    for committed in (False, True):
        for at in range(2 * appends):
            world = world_of(CrashingStore(sqlite_store, at, committed=committed), clock, can_look_up=True)
            order = an_order(world)
            if not await crashed(world, order):
                assert at > appends / 2
                break
            world.store = sqlite_store
            report = await world.run(order)

            view = await world.view(order)
            assert (report.state, report.output) == (OrderState.DONE, expected.output), (at, committed)
            assert await finished_once(world, view, order), (at, committed)
            assert set(world.tools["pay"].keys.values()) == {1}, (at, committed)


@pytest.mark.timeout(120)
async def test_a_write_that_cannot_be_looked_up_happens_once_or_becomes_a_card(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    _, appends = await whole_run(sqlite_store, clock)
    asked = 0
    for committed in (False, True):
        for at in range(2 * appends):
            world = world_of(CrashingStore(sqlite_store, at, committed=committed), clock, can_look_up=False)
            order = an_order(world)
            if not await crashed(world, order):
                assert at > appends / 2
                break
            world.store = sqlite_store
            report = await world.run(order)
            assert set(world.tools["pay"].keys.values()) <= {1}, (at, committed)
            for card, request in world.gate.doubts.items():
                asked += 1
                world.gate.decide(card, request.key in world.tools["pay"].keys)
            if report.state is OrderState.WAITING:
                report = await world.run(order)

            assert report.state is OrderState.DONE, (at, committed)
            assert set(world.tools["pay"].keys.values()) == {1}, (at, committed)
    assert asked > 0


async def test_a_run_uninterrupted_gives_what_its_steps_say(sqlite_store: SqlStore, clock: HandClock) -> None:
    report, _ = await whole_run(sqlite_store, clock)

    assert report.output == {
        "each": [{"x": 5, "at": 0}, {"x": 6, "at": 1}, {"x": 7, "at": 2}],
        "n": 2,
        "long": [5, 6, 7],
        "paid": {"paid": 6},
        "below": {"paid": 2},
    }
