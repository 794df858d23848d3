"""Going on with an order: what holds something comes first, and whoever needs it waits for what it returns."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, DispatchMode, Limit, Money, OrderState, PlanDefinition, StatusReport, TaskOrder
from runtime.engine.account import Account
from runtime.engine.amounts import amounts_of
from runtime.engine.flow import Flow
from runtime.engine.view import OrderView
from runtime.errors import BudgetExceeded
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Staff, Tool, World, with_store

pytestmark = pytest.mark.anyio
BUDGET = Budget(steps=200, seconds=900.0)
HER = {"id": "ask", "by": "asker", "skill": "ask"}
HIS = {"id": "work", "by": "worker", "skill": "work"}


def a_world(store: SqlStore, clock: HandClock, **settings: Any) -> World:
    async def slow(arguments: object, context: object) -> dict[str, Any]:
        for _ in range(20):  # others that may begin meanwhile do
            await asyncio.sleep(0)
        return {"n": 1}

    world = World(store, clock, Tool("line", slow), **settings)
    line, question = {"id": "do", "use": "line"}, {"id": "who", "ask": {"text": "Who?"}}
    world.skills["work"] = PlanDefinition.model_validate({"steps": [line]})
    world.skills["ask"] = PlanDefinition.model_validate({"steps": [question]})
    either = [{**question, "when": "n == 0"}, {**line, "when": "n > 0"}]
    world.skills["either"] = PlanDefinition.model_validate({"parameters": {"n": {"type": "integer"}}, "steps": either})
    return world


async def finished(world: World, order: TaskOrder) -> StatusReport:
    """Carry the order out to its end, and answer what it asks; nobody may wait for what nobody returns."""
    async with asyncio.timeout(60):
        report = await world.run(order)
        for _ in range(5):
            if report.state is not OrderState.WAITING:
                break
            for asked in report.waiting_for:
                await world.answer(asked, "ann")
            report = await world.run(order)
    return report


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("dispatch", list(DispatchMode))
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([{"id": "own", "use": "line"}, HIS], id="a step beside an order"),
        pytest.param(
            [HER, {"id": "own", "use": "line"}, {**HIS, "after": ["own"]}], id="an order that waited before one"
        ),
        pytest.param(
            [{"id": "each", "for_each": "{{ context.items }}", "at_once": 1, "by": "one", "skill": "either",
              "with": {"n": "{{ item }}"}}], id="a repetition that waited before one in progress",
        ),
        pytest.param(
            [{"id": "all", "at_once": 1, "parallel": [HER, HIS, {"id": "own", "use": "line"}]}],
            id="a branch that waited before one in progress",
        ),
    ],
)  # fmt: skip
async def test_whenever_the_process_died_an_order_with_enough_comes_to_its_end(
    sqlite_store: SqlStore, clock: HandClock, steps: list[dict[str, Any]], dispatch: DispatchMode, committed: bool
) -> None:
    for at in range(1, 12):
        world = a_world(sqlite_store, clock)
        order = world.order(*steps, plan={"dispatch": dispatch}, budget=BUDGET, context={"items": [0, 1, 2]})
        with_store(world, CrashingStore(sqlite_store, at, committed=committed))
        with suppress(Crash):
            await world.run(order)
        report = await finished(with_store(world, sqlite_store), order)

        assert report.state is OrderState.DONE, (at, report.error)


async def test_orders_that_were_in_progress_go_on_though_fewer_may_begin_now(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """Each repetition after them needs what they hold; behind it they would never return it."""
    step = {"id": "each", "for_each": "{{ context.items }}", "by": "worker", "skill": "work"}
    for at in range(1, 16):
        world = a_world(sqlite_store, clock, parallel=3)
        order = world.order(step, budget=Budget(steps=6), context={"items": list(range(6))})
        with_store(world, CrashingStore(sqlite_store, at, committed=True))
        with suppress(Crash):
            await world.run(order)
        after = a_world(sqlite_store, clock, parallel=1)
        report = await finished(after, order)

        assert (report.state, report.usage.steps) == (OrderState.DONE, 6), (at, report.error)


async def test_nobody_waits_for_what_an_order_in_a_cancelled_branch_holds(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """It does not go on, so that it returns nothing by itself."""
    work = {**HIS, "budget": {"steps": 3}}
    branches = [work, {"id": "first", "use": "line"}, {"id": "then", "by": "other", "skill": "work"}]
    for at in range(1, 8):
        world = a_world(sqlite_store, clock)
        order = world.order({"id": "all", "at_once": 2, "parallel": branches}, budget=Budget(steps=4))
        with_store(world, CrashingStore(sqlite_store, at, committed=True))
        with suppress(Crash):
            await world.run(order)
        with_store(world, sqlite_store).cancelled_branches.add("all/work")
        async with asyncio.timeout(60):
            report = await world.run(order)

        assert report.state is OrderState.DONE, (at, report.error)
        assert report.usage.steps <= 4


async def test_an_order_that_lacks_two_limits_gets_the_second_though_it_did_nothing_in_between(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """More of steps was no use to it without more of money, which its sibling returns only later."""
    lacks_money = asyncio.Event()

    class Telling(Staff):
        async def carry_out(self, order: TaskOrder) -> StatusReport:
            report = await super().carry_out(order)
            if order.skill == "buy" and report.asks is not None and report.asks.limit is Limit.MONEY:
                lacks_money.set()
            return report

    async def wait(arguments: object, context: object) -> dict[str, Any]:
        await lacks_money.wait()
        return {"n": 1}

    two = Money(amount=Decimal(2), currency="USD")
    free, dear = Tool("free", lambda a, c: {"n": 1}), Tool("dear", lambda a, c: {"n": 1}, costs=(two,))
    world = World(sqlite_store, clock, free, dear, Tool("wait", wait))
    buy = [{"id": "look", "use": "free"}, {"id": "buy", "use": "dear", "after": ["look"]}]
    world.skills["buy"] = PlanDefinition.model_validate({"steps": buy})
    world.skills["hold"] = PlanDefinition.model_validate({"steps": [{"id": "hold", "use": "wait"}]})
    share = {"money": Money(amount=Decimal(1), currency="USD").to_json(), "steps": 1}
    buyer = {"id": "buyer", "by": "one", "skill": "buy"}
    holder = {"id": "holder", "by": "two", "skill": "hold", "budget": share}
    order = world.order(buyer, holder, budget=Budget(money=two, steps=4))

    async with asyncio.timeout(60):
        report = await world.engine(delegate=Telling(world, world.skills)).run(order)

    assert report.state is OrderState.DONE, report.asks
    granted = [event.data for event in await sqlite_store.ledger.read(str(order.order_id))]
    assert sum("granted" in each for each in granted) >= 4  # both at first, then steps, then money


async def test_what_a_call_was_announced_with_stays_its_own_while_it_waits(clock: HandClock) -> None:
    view = OrderView()
    paying, other = view.unit("paying"), view.unit("other")
    paying.reserved[""] = (Money(amount=Decimal(1), currency="USD"),)
    account = Account(
        Budget(steps=1, money=Money(amount=Decimal(1), currency="USD")), view, flow=Flow(), stopping=lambda step: False,
        promised=lambda step, granted: {},
    )  # fmt: skip
    await account.take(other, {"own": {Limit.STEPS: Decimal(1)}})
    waits = asyncio.ensure_future(
        account.take(paying, {"own": {Limit.STEPS: Decimal(1)}, "": {Limit.MONEY: Decimal(1)}})
    )
    await asyncio.sleep(0)

    with pytest.raises(BudgetExceeded):
        await account.take(view.unit("third"), {"": {Limit.MONEY: Decimal(1)}})
    account.end(other)
    await asyncio.wait_for(waits, 60)

    assert account.free(Limit.MONEY) == 0


def test_seconds_are_what_they_are_written_as() -> None:
    given, rest = (amounts_of(Budget(seconds=seconds))[Limit.SECONDS] for seconds in (899.999, 0.001))

    assert given + rest == 900
