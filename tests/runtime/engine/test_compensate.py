from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def desk(store: SqlStore, clock: HandClock, **undo: Any) -> tuple[World, list[str], asyncio.Event]:
    """A world in which effects and what takes them back are written down, and the third step hangs."""
    done: list[str] = []
    hanging = asyncio.Event()

    def act(arguments: Any, context: Any) -> dict[str, Any]:
        done.append(f"do {arguments['n']}")
        return {"id": arguments["n"]}

    def take_back(arguments: Any, context: Any) -> Any:
        done.append(f"undo {arguments['id']}")
        return undo.get("fails") or {}

    async def hang(arguments: object, context: object) -> None:
        hanging.set()
        await asyncio.Event().wait()

    tools = (Tool("do", act, Effect.WRITE), Tool("undo", take_back, Effect.WRITE), Tool("hang", hang))
    return World(store, clock, *tools, network_retries=0), done, hanging


def effect(n: int, after: int | None = None) -> dict[str, Any]:
    undo = {"use": "undo", "with": {"id": f"{{{{ e{n}.id }}}}"}}
    return {"id": f"e{n}", "use": "do", "with": {"n": n}, "after": [f"e{after}"] if after else [], "compensate": undo}


async def cancel_when(world: World, order: Any, hanging: asyncio.Event) -> Any:
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 5)
    world.cancelled = True
    return await asyncio.wait_for(running, 5)


async def test_a_cancelled_order_takes_its_effects_back_the_last_one_first(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    order = world.order(effect(1), effect(2, after=1), {"id": "stuck", "use": "hang", "after": ["e2"]})

    report = await cancel_when(world, order, hanging)

    assert report.state is OrderState.CANCELLED
    assert done == ["do 1", "do 2", "undo 2", "undo 1"]
    assert "taken back: 2" in report.error.message
    assert (await world.kinds(order))[-1] == "order.finished"
    assert await world.run(order) == report


async def test_a_compensation_that_fails_is_told_and_the_others_are_tried(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock, fails=NetworkFault("down", happened="no"))
    order = world.order(effect(1), effect(2, after=1), {"id": "stuck", "use": "hang", "after": ["e2"]})

    report = await cancel_when(world, order, hanging)

    assert done[-2:] == ["undo 2", "undo 1"]
    assert "could not be taken back: 2" in report.error.message


async def test_effects_of_orders_below_are_taken_back_too(sqlite_store: SqlStore, clock: HandClock) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    world.skills["act"] = PlanDefinition.model_validate({"steps": [effect(1), effect(2, after=1)]})
    order = world.order(
        {"id": "below", "by": "clerk", "skill": "act"}, {"id": "stuck", "use": "hang", "after": ["below"]}
    )

    report = await cancel_when(world, order, hanging)

    assert report.state is OrderState.CANCELLED
    assert done == ["do 1", "do 2", "undo 2", "undo 1"]


async def test_an_order_below_that_is_cancelled_takes_its_own_back_once(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    steps = [effect(1), {"id": "stuck", "use": "hang", "after": ["e1"]}]
    world.skills["act"] = PlanDefinition.model_validate({"steps": steps})
    order = world.order({"id": "below", "by": "clerk", "skill": "act"})

    report = await cancel_when(world, order, hanging)

    assert report.state is OrderState.CANCELLED
    assert done == ["do 1", "undo 1"]


@pytest.mark.parametrize("happened", [True, False])
async def test_an_effect_met_in_the_middle_is_looked_up_and_taken_back_if_it_happened(
    sqlite_store: SqlStore, clock: HandClock, happened: bool
) -> None:
    world, done, hanging = desk(sqlite_store, clock)

    async def send_and_hang(arguments: Any, context: Any) -> None:
        if happened:
            from runtime.capabilities.port import CallResult

            world.tools["do"].happened[context.key] = CallResult(output={"id": arguments["n"]})
        hanging.set()
        await asyncio.Event().wait()

    world.tools["do"] = Tool("do", send_and_hang, Effect.WRITE, can_look_up=True)
    report = await cancel_when(world, world.order(effect(1)), hanging)

    assert report.state is OrderState.CANCELLED
    assert done == (["undo 1"] if happened else [])
