"""What a person tells of an effect of which they say that it happened."""

from __future__ import annotations

import pytest

from contracts import CardId, OrderState
from runtime.capabilities.port import Told
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import World
from tests.runtime.engine.test_effects import PAY, crash_in_the_call, noting, paying

pytestmark = pytest.mark.anyio


READS_RECEIPT = {"id": "note", "use": "note", "with": {"receipt": "{{ pay.receipt }}"}}


async def doubted(world: World, order: object) -> CardId:
    """Let the process die in the middle of the payment, and return the card that asks whether it happened."""
    await crash_in_the_call(world, world.tools["pay"], order, happened=True)
    (card,) = (await world.run(order)).waiting_for  # type: ignore[arg-type]
    assert isinstance(card, CardId)
    return card


async def test_what_a_person_tells_of_an_effect_that_happened_is_what_later_steps_read(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"receipt": 7}), noting())
    order = world.order({**PAY, "gives": {"receipt": "integer"}, "accept": ["receipt > 5"]}, READS_RECEIPT)
    card = await doubted(world, order)
    asked = world.gate.doubts[card].gives
    world.gate.decide(card, Told({"receipt": 7}, "ann", card))

    report = await world.run(order)
    events = await sqlite_store.ledger.read(str(order.order_id))
    paid = [event.data for event in events if event.type == "step.finished"]
    assert (report.state, asked, world.tools["note"].calls) == (
        OrderState.DONE, {"receipt": "integer"}, [{"receipt": 7}]
    )  # fmt: skip
    assert paid[0] is not None and paid[0]["output"] == {"receipt": 7, "confirmed_by_person": True}
    assert "'told_by': 'ann'" in str(paid[0])


async def test_what_a_person_tells_is_judged_as_any_other_output_and_nothing_is_done_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"receipt": 7}))
    order = world.order({**PAY, "accept": ["receipt > 5"]})
    card = await doubted(world, order)
    world.gate.decide(card, Told({"receipt": 3}, "ann", card))

    report = await world.run(order)
    assert report.error is not None and report.error.code == "NOT_ACCEPTED"
    assert len(world.tools["pay"].calls) == 1


async def test_without_it_a_step_that_reads_it_says_that_nobody_told(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, paying({"receipt": 7}), noting())
    order = world.order(PAY, READS_RECEIPT)
    world.gate.decide(await doubted(world, order), True)

    report = await world.run(order)
    assert report.error is not None and "because a person said so without telling what it gave" in report.error.message
    assert world.tools["note"].calls == []


async def test_whoever_had_another_pay_is_told_the_same_where_it_declares_what_it_expects(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"receipt": 7}))
    order = world.order({**PAY, "by": "cashier", "gives": {"receipt": "integer"}})
    world.gate.decide(await doubted(world, order), True)

    report = await world.run(order)
    assert report.error is not None and report.error.code == "OUTPUT_FAULTY"
    assert "`receipt` is missing. Of this effect is only known that it happened" in report.error.message
