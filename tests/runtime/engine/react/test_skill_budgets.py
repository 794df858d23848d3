"""What the orders of a model's calls may spend: of what their step has, each counted once."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, Limit, Money, OrderState, QuestionId, TaskOrder
from runtime.capabilities.port import CallContext, Waiting
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import World, with_store
from tests.fakes.model import done
from tests.runtime.engine.react.skilled import THINK, a_plan, a_world, counting, played, told

pytestmark = pytest.mark.anyio
THREE = a_plan(*({"id": f"s{n}", "use": "look", "after": [f"s{n - 1}"] if n else []} for n in range(3)), at="any")


async def facts(world: World, order: TaskOrder, kind: str) -> list[dict[str, Any]]:
    events = await world.store.ledger.read(str(order.order_id))
    return [dict(event.data or {}) for event in events if event.type == kind]


async def test_steps_of_orders_below_count_once_in_the_order_of_the_model(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting("gate", "door"), done(n=3))
    world.skills["count"] = THREE
    order = world.order(THINK, budget=Budget(steps=20))

    report = await world.run(order)

    assert (report.state, report.usage.steps) == (OrderState.DONE, 1 + 2 * 3)
    granted = [Budget.read(each["granted"]).steps or 0 for each in await facts(world, order, "step.dispatched")]
    assert sum(granted) <= 19 and all(grant >= 3 for grant in granted)


async def test_an_order_that_lacks_steps_stops_the_step_and_goes_on_with_more(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), done(n=3))
    world.skills["count"] = THREE
    order = world.order(THINK, budget=Budget(steps=3))
    short = await world.run(order)
    assert (short.state, short.usage.steps) == (OrderState.PARTIAL, 2)
    assert short.asks is not None and short.asks.limit is Limit.STEPS

    report = await world.run(order.model_copy(update={"budget": Budget(steps=4)}))

    assert (report.state, report.usage.steps) == (OrderState.DONE, 4)
    assert len(world.tools["look"].calls) == 3 and played(world).asked == {0: 1, 1: 1}


async def test_orders_of_one_answer_share_what_there_is_and_wait_for_what_comes_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """None of them holds what another waits for until both are stuck."""
    world = a_world(sqlite_store, clock, counting(1, 2, 3), done(n=3))
    world.skills["count"] = THREE
    report = await asyncio.wait_for(world.run(world.order(THINK, budget=Budget(steps=10))), 60)

    assert (report.state, report.usage.steps) == (OrderState.DONE, 10)


async def test_orders_that_cannot_all_be_done_stop_without_waiting_for_each_other_for_ever(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting(1, 2, 3), done(n=3))
    world.skills["count"] = THREE
    order = world.order(THINK, budget=Budget(steps=8))
    short = await asyncio.wait_for(world.run(order), 60)
    assert short.state is OrderState.PARTIAL and short.usage.steps <= 8

    report = await world.run(order.model_copy(update={"budget": Budget(steps=10)}))

    assert (report.state, report.usage.steps) == (OrderState.DONE, 10)
    assert len(world.tools["look"].calls) == 9


async def test_a_step_that_a_kill_met_does_not_wait_for_the_orders_of_its_own_calls_to_begin_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """What they hold comes back only once the step itself has begun, and nothing is left for that."""
    world = a_world(sqlite_store, clock, counting("gate"), done(n=3))
    order = world.order(THINK, budget=Budget(steps=3))
    with pytest.raises(Crash):
        await with_store(world, CrashingStore(sqlite_store, 2, committed=True)).run(order)
    held = sum(Budget.read(each["granted"]).steps or 0 for each in await facts(world, order, "step.dispatched"))
    assert held > 0
    with_store(world, sqlite_store)

    short = await asyncio.wait_for(world.run(order.model_copy(update={"budget": Budget(steps=held)})), 60)

    assert short.state is OrderState.PARTIAL and short.asks is not None
    assert (await world.run(order)).state is OrderState.DONE


async def test_the_share_of_the_step_holds_for_all_its_answers_and_orders(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting(1, 2), counting(3), done(n=3))
    order = world.order({**THINK, "budget": {"steps": 5}}, budget=Budget(steps=100))
    world.skills["count"] = THREE

    report = await asyncio.wait_for(world.run(order), 60)

    assert report.state is OrderState.PARTIAL and report.usage.steps <= 5
    granted = [Budget.read(each["granted"]).steps or 0 for each in await facts(world, order, "step.dispatched")]
    assert granted == [5, 2]  # the first gave two back


@pytest.mark.parametrize("budget", [Budget(), Budget(tokens=1000)])
async def test_a_share_of_what_the_order_has_no_limit_of_ends_the_step_with_its_name(
    sqlite_store: SqlStore, clock: HandClock, budget: Budget
) -> None:
    world = a_world(sqlite_store, clock, counting(1), counting(2, 3), done(n=3))
    world.skills["count"] = THREE

    report = await asyncio.wait_for(world.run(world.order({**THINK, "budget": {"steps": 3}}, budget=budget)), 60)

    assert report.state is OrderState.PARTIAL and len(world.tools["look"].calls) == 3
    assert report.error is not None and "the plan gives step think" in report.error.message
    assert "larger `budget` of step think" in report.error.message


async def test_what_a_waiting_order_spent_is_counted_when_it_waits_and_not_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    asked = QuestionId.new()

    def look(arguments: Any, context: CallContext) -> Any:
        return {"rows": 1} if context.step != "s2" or context.pending else Waiting((asked,))

    world = a_world(sqlite_store, clock, counting("gate"), done(n=3), look=look)
    world.skills["count"] = THREE
    order = world.order(THINK, budget=Budget(steps=9))
    waiting = await world.run(order)
    assert (waiting.state, waiting.usage.steps) == (OrderState.WAITING, 2)

    report = await world.run(order)

    assert (report.state, report.usage.steps) == (OrderState.DONE, 4)


async def test_money_that_an_order_spent_before_it_failed_counts(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), done(n=3))
    dollar = Money(amount=Decimal(1), currency="USD")
    look = world.tools["look"]
    look.spec = look.spec.__class__(
        "look", "builtin_tool", "look", {}, {}, open_arguments=True, costs=(dollar,)
    )  # fmt: skip
    world.skills["count"] = a_plan(
        {"id": "see", "use": "look"}, {"id": "bad", "use": "look", "after": ["see"], "accept": ["result.rows > 3"]},
        at="any",
    )  # fmt: skip
    report = await world.run(world.order(THINK, budget=Budget(money=Money(amount=Decimal(9), currency="USD"))))

    assert report.state is OrderState.DONE and "rows > 3" in told(world)[0]
    assert report.usage.money == (Money(amount=Decimal(len(look.calls)), currency="USD"),) and look.calls
