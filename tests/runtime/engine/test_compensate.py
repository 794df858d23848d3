"""A cancelled order finds out about its effects and takes them back, each once, wherever its process dies."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import CardId, Effect, OrderState, PlanDefinition
from runtime.capabilities.port import CallResult
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World
from tests.runtime.engine.cancelled_desk import cancel_when, desk, effect

pytestmark = pytest.mark.anyio


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
            world.tools["do"].happened[context.key] = CallResult(output={"id": arguments["n"]})
        hanging.set()
        await asyncio.Event().wait()

    world.tools["do"] = Tool("do", send_and_hang, Effect.WRITE, can_look_up=True)
    report = await cancel_when(world, world.order(effect(1)), hanging)

    assert report.state is OrderState.CANCELLED
    assert done == (["undo 1"] if happened else [])


async def cancel_and_die(
    store: SqlStore, clock: HandClock, at: int | None, *, committed: bool
) -> tuple[list[str], int]:
    """Cancel an order with effects above and below; its process dies at one append on the way, and another goes on."""
    crashing = CrashingStore(store, at, committed=committed)
    world, done, hanging = desk(crashing, clock)  # type: ignore[arg-type]
    undo = world.tools["undo"]
    world.tools["undo"] = Tool("undo", undo._act, Effect.WRITE, can_look_up=True)
    world.skills["act"] = PlanDefinition.model_validate({"steps": [effect(2)]})
    below = {"id": "below", "by": "clerk", "skill": "act", "after": ["e1"]}
    order = world.order(effect(1), below, {"id": "stuck", "use": "hang", "after": ["below"]})
    running = asyncio.ensure_future(world.run(order))
    reached = asyncio.ensure_future(hanging.wait())
    await asyncio.wait({running, reached}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
    reached.cancel()
    world.cancelled = True
    try:
        await running
    except Crash:
        world.store = store
        report = await world.run(order)
        for card in report.waiting_for:
            happened = world.gate.doubts[CardId(card)].key in world.tools["do"].happened
            world.gate.decide(CardId(card), happened)
        await world.run(order)
    assert (await world.kinds(order))[-1] == "order.finished"
    return done, crashing.ledger.appends


async def test_a_cancelled_order_takes_each_effect_back_once_wherever_its_process_dies(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    done, appends = await cancel_and_die(sqlite_store, clock, None, committed=False)
    assert done == ["do 1", "do 2", "undo 2", "undo 1"]

    for at in range(appends):
        for committed in (False, True):
            done, _ = await cancel_and_die(sqlite_store, clock, at, committed=committed)
            undone = [each for each in done if each.startswith("undo")]
            assert len(undone) == len(set(undone)), (at, committed, done)
            assert undone == sorted(undone, reverse=True), (at, committed, done)


class Late:
    """A service that is still at work when its caller is gone, and commits while the engine waits."""

    def __init__(self, world: World, name: str, n: int, hanging: asyncio.Event) -> None:
        self._world, self._name, self._n, self._hanging = world, name, n, hanging
        self.key = ""
        world.tools[name] = Tool(name, self._act, Effect.WRITE, can_look_up=True)
        world.meanwhile = self._commit

    async def _act(self, arguments: Any, context: Any) -> None:
        self.key = context.key
        self._hanging.set()
        await asyncio.Event().wait()

    def _commit(self) -> None:
        self._world.tools[self._name].happened[self.key] = CallResult(output={"id": self._n})


async def test_an_effect_that_takes_place_after_the_cancel_is_found_and_taken_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    Late(world, "do", 1, hanging)

    report = await cancel_when(world, world.order(effect(1)), hanging)

    assert report.state is OrderState.CANCELLED
    assert (done, world.waits) == (["undo 1"], [world.settings.settle_s])


async def test_all_effects_in_flight_are_found_out_about_in_the_time_of_one(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    begun: list[str] = []
    slept = asyncio.Barrier(3)

    async def send_and_hang(arguments: Any, context: Any) -> None:
        begun.append(context.key)
        if len(begun) == 3:
            hanging.set()
        await asyncio.Event().wait()

    async def sleep_together(seconds: float) -> None:
        await slept.wait()
        for n, key in enumerate(sorted(begun), 1):
            world.tools["do"].happened[key] = CallResult(output={"id": n})

    world.tools["do"] = Tool("do", send_and_hang, Effect.WRITE, can_look_up=True)
    world._sleep = sleep_together  # type: ignore[method-assign]
    report = await cancel_when(world, world.order(effect(1), effect(2), effect(3)), hanging)

    assert report.state is OrderState.CANCELLED
    assert sorted(done) == ["undo 1", "undo 2", "undo 3"]


async def test_a_compensation_that_takes_place_after_its_process_died_is_not_done_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    order = world.order(effect(1), {"id": "stuck", "use": "hang", "after": ["e1"]})
    undoing = asyncio.Event()
    Late(world, "undo", 1, undoing)
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 60)
    world.cancelled = True
    await asyncio.wait_for(undoing.wait(), 60)
    running.cancel()
    await asyncio.wait([running])

    report = await asyncio.wait_for(world.run(order), 60)

    assert report.state is OrderState.CANCELLED and "taken back: 1" in report.error.message  # type: ignore[union-attr]
    assert len(world.tools["undo"].calls) == 1
    assert done == ["do 1"]


async def test_a_compensation_that_a_service_of_another_home_was_sent_stays_in_doubt(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    order = world.order(effect(1), {"id": "stuck", "use": "hang", "after": ["e1"]})
    undoing = asyncio.Event()
    Late(world, "undo", 1, undoing)
    world.tools["undo"].instance = lambda: "home-a"  # type: ignore[attr-defined]
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 60)
    world.cancelled = True
    await asyncio.wait_for(undoing.wait(), 60)
    running.cancel()
    await asyncio.wait([running])
    world.tools["undo"].instance = lambda: "home-b"  # type: ignore[attr-defined]

    report = await asyncio.wait_for(world.run(order), 60)

    assert "could not be taken back: 1" in report.error.message  # type: ignore[union-attr]
    assert len(world.tools["undo"].calls) == 1
    assert done == ["do 1"]


async def test_a_compensation_whose_answer_was_lost_is_not_done_again_while_the_service_is_at_work(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, _, hanging = desk(sqlite_store, clock)
    late = Late(world, "undo", 1, hanging)

    def lose(arguments: Any, context: Any) -> NetworkFault:
        late.key = context.key
        return NetworkFault("timed out")

    world.tools["undo"] = Tool("undo", lose, Effect.WRITE, can_look_up=True)
    order = world.order(effect(1), {"id": "stuck", "use": "hang", "after": ["e1"]})

    report = await cancel_when(world, order, hanging)

    assert "taken back: 1" in report.error.message
    assert len(world.tools["undo"].calls) == 1


async def test_an_effect_of_an_order_below_whose_process_died_is_found_and_taken_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    Late(world, "do", 1, hanging)
    world.skills["act"] = PlanDefinition.model_validate({"steps": [effect(1)]})
    order = world.order({"id": "below", "by": "clerk", "skill": "act"})
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 60)
    running.cancel()
    await asyncio.wait([running])
    world.cancelled = True

    report = await asyncio.wait_for(world.run(order), 60)

    assert report.state is OrderState.CANCELLED
    assert done == ["undo 1"]


@pytest.mark.parametrize("dies", [False, True])
async def test_a_call_that_another_employee_makes_is_taken_back_as_the_step_says_that_asked_for_it(
    sqlite_store: SqlStore, clock: HandClock, dies: bool
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    Late(world, "do", 1, hanging)
    world.tools["undo"] = Tool("undo", lambda arguments, context: done.append(str(arguments)) or {}, Effect.WRITE)
    way_back = {"use": "undo", "with": {"id": "{{ e1.id }}", "why": "{{ reason }} {{ e1.id }}"}}
    step = {"id": "e1", "by": "clerk", "use": "do", "compensate": way_back}
    order = world.order(step, inputs={"reason": "{{ braces }}"})
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 60)
    if dies:
        running.cancel()
        await asyncio.wait([running])
    world.cancelled = True

    report = await asyncio.wait_for(world.run(order) if dies else running, 60)

    assert done == ["{'id': 1, 'why': '{{ braces }} 1'}"]
    assert "taken back: 1." in report.error.message  # type: ignore[union-attr]
