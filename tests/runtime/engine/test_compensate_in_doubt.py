"""Of some effects that a cancellation meets only people can tell whether they happened: it waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition
from runtime.errors import EffectInDoubt
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.runtime.engine.cancelled_desk import cancel_when, desk, effect

pytestmark = pytest.mark.anyio


def blind(world: World, hanging: asyncio.Event) -> None:
    """Add a capability that cannot tell what it did, and hangs."""

    async def send_and_hang(arguments: Any, context: Any) -> None:
        hanging.set()
        await asyncio.Event().wait()

    world.tools["blind"] = Tool("blind", send_and_hang, Effect.WRITE)


BLIND = {"id": "sent", "use": "blind", "compensate": {"use": "undo", "with": {"id": 9}}}


@pytest.mark.parametrize("happened", [True, False])
async def test_an_effect_that_only_people_can_tell_about_waits_for_them_and_is_then_taken_back(
    sqlite_store: SqlStore, clock: HandClock, happened: bool
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    blind(world, hanging)
    order = world.order(effect(1), {**BLIND, "after": ["e1"]})

    waiting = await cancel_when(world, order, hanging)
    still = await world.run(order)
    told = list(done)
    (card,) = waiting.waiting_for
    world.gate.decide(card, happened)
    report = await world.run(order)

    assert (waiting.state, still) == (OrderState.WAITING, waiting)
    assert told == ["do 1", "undo 1"]
    assert report.state is OrderState.CANCELLED
    assert done == [*told, *(["undo 9"] if happened else [])]
    assert len(world.tools["blind"].calls) == 1
    request = world.gate.doubts[card]
    assert (request.cancelled, request.way_back) == (True, "undo")


async def test_an_effect_whose_way_back_needs_its_lost_result_is_told_and_stands(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    blind(world, hanging)
    way_back = {"use": "undo", "with": {"id": "{{ sent.id }}"}}
    order = world.order({**BLIND, "compensate": way_back})

    (card,) = (await cancel_when(world, order, hanging)).waiting_for
    world.gate.decide(card, True)
    report = await world.run(order)

    assert world.gate.doubts[card].way_back is None
    assert "could not be taken back: 1" in report.error.message  # type: ignore[union-attr]
    assert done == []


async def test_an_effect_that_stays_in_doubt_is_told_at_the_top_with_the_card_that_asked(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, _, hanging = desk(sqlite_store, clock)
    blind(world, hanging)
    world.skills["act"] = PlanDefinition.model_validate({"steps": [BLIND]})
    order = world.order({"id": "below", "by": "clerk", "skill": "act"})
    (card,) = (await cancel_when(world, order, hanging)).waiting_for

    async def nobody_knows(request: Any) -> bool:
        raise EffectInDoubt("Nobody knows.", card=card)

    world.gate.in_doubt = nobody_knows  # type: ignore[method-assign, assignment]
    report = await world.run(order)

    assert report.state is OrderState.CANCELLED
    assert f"in doubt: 1; nobody said whether they happened, and they were not taken back: blind ({card})" in (
        report.error.message  # type: ignore[union-attr]
    )
