"""Identical calls of a model are one, unless each of them counts."""

from __future__ import annotations

import pytest

from contracts import Effect, OrderState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool
from tests.fakes.model import calls, done
from tests.runtime.engine.react.talking import THINK, a_world, paying, played

pytestmark = pytest.mark.anyio


async def test_an_identical_effect_is_done_once_in_one_answer_and_over_the_next(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D8: "send payment" twice in one answer and again in the next."""
    world = a_world(sqlite_store, clock, paying("ann", "ann", "bob"), paying("ann"), done(n=1))
    world.gate.ask = True
    order = world.order(THINK)
    waiting = await world.run(order)
    for card in waiting.waiting_for:
        world.gate.decide(card, True)  # type: ignore[arg-type]

    report = await world.run(order)

    assert len(waiting.waiting_for) == 2 and report.state is OrderState.DONE
    assert world.tools["pay"].calls == [{"to": "ann"}, {"to": "bob"}]
    told = [message["content"] for message in played(world).requests[-1].messages if message["role"] == "tool"]
    assert ['"paid":"ann"' in each for each in told] == [True, True, False, True]
    assert ["__not_repeated" in each for each in told] == [False, True, False, True]


async def test_a_refused_effect_that_the_model_sends_again_asks_nobody_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, paying("ann"), paying("ann"), done(n=1))
    world.gate.ask = True
    order = world.order(THINK)
    world.gate.decide((await world.run(order)).waiting_for[0], False)  # type: ignore[arg-type]

    assert (await world.run(order)).state is OrderState.DONE
    assert len(world.gate.cards) == 1 and world.tools["pay"].calls == []


async def test_an_effect_of_which_every_call_counts_is_done_as_often_as_the_model_says(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, paying("ann", "ann"), paying("ann"), done(n=1))
    world.tools["pay"] = Tool("pay", lambda a, c: {}, Effect.WRITE, every_call=True)

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert len(world.tools["pay"].calls) == len(world.tools["pay"].keys) == 3


async def test_identical_reads_of_one_answer_are_one_call(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(*[("look", {"at": 1})] * 7), done(n=1))

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert len(world.tools["look"].calls) == 1
