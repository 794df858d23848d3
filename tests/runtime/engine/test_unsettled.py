"""Effects in doubt of an order that gets no slot: found out about without one, and nothing else of it begins."""

from __future__ import annotations

import pytest

from contracts import Effect, OrderState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import calls, done
from tests.runtime.engine.react.talking import THINK, a_world, played

pytestmark = pytest.mark.anyio
PAY = {"id": "pay", "use": "pay", "with": {}}
LOOK = {"id": "look", "use": "look", "after": ["pay"]}


def die(arguments: object, context: object) -> object:
    raise Crash


def pay(arguments: object, context: object) -> dict[str, int]:
    return {"receipt": 7}


@pytest.mark.parametrize("happened", [True, False])
async def test_a_person_is_asked_and_the_order_goes_on_from_the_answer_once_it_has_a_slot(
    sqlite_store: SqlStore, clock: HandClock, happened: bool
) -> None:
    world = World(sqlite_store, clock, Tool("pay", die, Effect.WRITE), Tool("look", lambda a, c: {"n": 1}))
    order = world.order(PAY, LOOK)
    with pytest.raises(Crash):
        await world.run(order)
    world.tools["pay"]._act = pay

    first = await world.engine().settle_doubts(order)
    assert first == await world.engine().settle_doubts(order)  # the same card, asked once
    (card,) = world.gate.doubts
    world.gate.decide(card, happened)
    second = await world.engine().settle_doubts(order)

    assert first is not None and (first.state, first.waiting_for) == (OrderState.WAITING, (card,))
    assert second is None and await world.engine().settle_doubts(order) is None
    assert len(world.tools["pay"].calls) == 1 and not world.tools["look"].calls
    assert (await world.run(order)).state is OrderState.DONE
    assert len(world.tools["pay"].calls) == (1 if happened else 2) and len(world.tools["pay"].keys) == 1


async def test_what_can_be_looked_up_and_was_the_last_step_ends_the_order(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("pay", pay, Effect.WRITE, can_look_up=True))
    order, tool = world.order(PAY), world.tools["pay"]

    async def dies_after_it(*args: object) -> object:
        await happens(*args)  # type: ignore[arg-type]
        raise Crash

    happens, tool.call = tool.call, dies_after_it  # type: ignore[method-assign,assignment]
    with pytest.raises(Crash):
        await world.run(order)

    report = await world.engine().settle_doubts(order)

    assert report is not None and (report.state, report.output) == (OrderState.DONE, {"receipt": 7})
    assert len(tool.calls) == 1


async def test_the_effect_of_a_models_call_is_found_out_about_and_the_model_not_asked(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("pay", {"to": "ann"})), done(n=1))
    act, world.tools["pay"]._act = world.tools["pay"]._act, die
    order = world.order(THINK)
    with pytest.raises(Crash):
        await world.run(order)
    world.tools["pay"]._act = act

    first = await world.engine().settle_doubts(order)
    (card,) = world.gate.doubts
    world.gate.decide(card, True)
    second = await world.engine().settle_doubts(order)

    assert first is not None and first.waiting_for == (card,) and second is None
    assert played(world).asked == {0: 1}
    assert (await world.run(order)).state is OrderState.DONE
    assert len(world.tools["pay"].calls) == 1 and played(world).asked == {0: 1, 1: 1}


async def test_of_a_cancelled_order_a_person_is_asked_too(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("pay", die, Effect.WRITE), Tool("look", lambda a, c: {"n": 1}))
    order = world.order(PAY, LOOK)
    with pytest.raises(Crash):
        await world.run(order)
    world.cancelled = True

    first = await world.engine().settle_doubts(order)
    (card,) = world.gate.doubts
    world.gate.decide(card, False)
    second = await world.engine().settle_doubts(order)

    assert first is not None and first.waiting_for == (card,)
    assert second is not None and second.state is OrderState.CANCELLED
    assert not world.tools["look"].calls


async def test_an_order_without_doubts_is_left_alone(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("pay", pay, Effect.WRITE))
    order = world.order(PAY)

    assert await world.engine().settle_doubts(order) is None
    assert await world.kinds(order) == []
