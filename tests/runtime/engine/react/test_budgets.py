"""What a conversation takes: reserved before the model is asked and before each of its calls."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, Effect, Limit, Money, OrderState
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel, ScriptedModel, calls, done
from tests.runtime.engine.react.talking import THINK, a_world

pytestmark = pytest.mark.anyio
DOLLAR = (Money(amount=Decimal(1), currency="USD"),)


class Silent:
    """A model that cannot tell what an answer takes."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        raise AssertionError("it was asked")


def priced(store: Any, clock: HandClock, *answers: Any) -> World:
    world = World(
        store,
        clock,
        Tool("look", lambda a, c: {"seen": 1}, costs=DOLLAR),
        Tool("pay", lambda a, c: {"paid": 1}, Effect.WRITE, costs=DOLLAR),
    )
    world.model = PlayedModel(*answers)
    return world


async def test_a_model_that_cannot_tell_what_it_takes_is_not_asked_where_tokens_are_limited(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    world.model = Silent()
    report = await world.run(world.order(THINK, budget=Budget(tokens=1_000)))

    assert report.error is not None and report.error.code == "PRICE_UNKNOWN"


async def test_a_model_is_not_asked_for_more_than_the_share_of_its_step(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    world.model = ScriptedModel(calls(("look", {"at": 1})), calls(("look", {"at": 2})), done(n=1))
    report = await world.run(world.order({**THINK, "budget": {"tokens": 25}}, budget=Budget(tokens=1_000)))

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert (report.asks.limit, report.usage.tokens_in) == (Limit.TOKENS, 20)


async def test_of_the_calls_of_one_answer_those_are_made_that_money_is_there_for(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    asked = calls(("look", {"at": 1}), ("pay", {"to": "ann"}), ("look", {"at": 2}))
    world = priced(sqlite_store, clock, asked, done(n=1))
    order = world.order(THINK, budget=Budget(money=Money.parse("2 USD")))
    partial = await world.run(order)
    made = sum(len(tool.calls) for tool in world.tools.values())
    world.reopen = True

    report = await world.run(order.model_copy(update={"budget": Budget(money=Money.parse("3 USD"))}))

    assert partial.state is OrderState.PARTIAL and made == 2
    assert (report.state, report.usage.money) == (OrderState.DONE, (Money.parse("3 USD"),))
    assert sum(len(tool.calls) for tool in world.tools.values()) == 3
