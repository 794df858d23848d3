"""Budgets down the tree: reserved before, settled after, returned by whatever does not need them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, Effect, Json, Limit, Money, OrderState, PlanDefinition, StatusReport, StepLeft, TaskOrder
from runtime.engine.fold import fold_order
from runtime.errors import BusinessRefusal, NetworkFault
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World, with_store

pytestmark = pytest.mark.anyio
DOLLAR = Money(amount=Decimal(1), currency="USD")
ITEMS = {"parameters": {"items": {"type": "array"}}}
EACH = {"with": {"n": "{{ item }}"}}


def dollars(amount: float | str) -> Money:
    return Money(amount=Decimal(str(amount)), currency="USD")


def paid(act: Any = None, **spec: Any) -> Tool:
    return Tool("paid", act or (lambda a, c: {"n": 1}), costs=(DOLLAR,), **spec)


def twenty(**step: Any) -> dict[str, Any]:
    return {"id": "each", "for_each": "{{ items }}", **{"at_once": 20, **step}}


def over(world: World, step: dict[str, Any], count: int, **budget: Any) -> TaskOrder:
    return world.order(step, plan=ITEMS, inputs={"items": list(range(count))}, budget=Budget(**budget))


def spent(report: StatusReport) -> Decimal:
    return sum((money.amount for money in report.usage.money), Decimal(0))


async def ledger_of(world: World, kind: str) -> list[dict[str, Json]]:
    streams = await world.store.ledger.streams("order")
    events = [event for stream in streams for event in await world.store.ledger.read(stream)]
    return [dict(event.data or {}) for event in events if event.type == kind]


async def test_of_twenty_parallel_calls_with_money_for_three_exactly_three_are_made(
    store: SqlStore, clock: HandClock
) -> None:
    """O6: concurrent calls all pass the same check."""

    async def slow(arguments: object, context: object) -> dict[str, Json]:
        await asyncio.sleep(0)
        return {"n": 1}

    world = World(store, clock, paid(slow))
    report = await world.run(over(world, twenty(use="paid", **EACH), 20, money=dollars(3)))

    assert len(world.tools["paid"].calls) == 3
    assert (report.state, spent(report)) == (OrderState.PARTIAL, 3)
    assert report.error is not None and report.error.facts["limit"] == "money"
    assert report.asks is not None and report.asks.missing == (StepLeft(step="each", done=3, missing=17),)
    assert (report.asks.least, report.asks.asked) == (Budget(money=dollars(1)), Budget(money=dollars(17)))


async def test_of_twenty_orders_at_once_with_money_for_three_calls_exactly_three_are_made(
    store: SqlStore, clock: HandClock
) -> None:
    """O6 over orders, each of which may be in a process of its own: their grants are all that they know of."""
    world = World(store, clock, paid())
    world.skills["buy"] = PlanDefinition.model_validate({"steps": [{"id": "pay", "use": "paid"}]})
    report = await world.run(over(world, twenty(by="buyer", skill="buy"), 20, money=dollars(3)))

    assert len(world.tools["paid"].calls) == 3
    assert (report.state, spent(report)) == (OrderState.PARTIAL, 3)
    assert report.asks is not None and report.asks.asked == Budget(money=dollars(17))


async def test_after_an_extension_nothing_is_done_twice(store: SqlStore, clock: HandClock) -> None:
    """O7 in an order below: cap 3 on a task of 10, extended from above."""
    world = World(store, clock, paid())
    world.skills["buy"] = PlanDefinition.model_validate({**ITEMS, "steps": [twenty(use="paid", **EACH)]})
    step = {"id": "below", "by": "buyer", "skill": "buy", "with": {"items": "{{ items }}"}}
    order = over(world, step, 10, money=dollars(3))
    partial = await world.run(order)
    assert partial.asks is not None and partial.asks.asked.money == dollars(7)
    world.reopen = True

    report = await world.run(order.model_copy(update={"budget": Budget(money=dollars(10))}))

    assert (report.state, spent(report)) == (OrderState.DONE, 10)
    assert world.tools["paid"].keys and max(world.tools["paid"].keys.values()) == 1


async def test_what_a_child_does_not_spend_is_there_for_the_next(store: SqlStore, clock: HandClock) -> None:
    world = World(store, clock, paid(), Tool("free", lambda a, c: {"n": 1}))
    world.skills["thrifty"] = PlanDefinition.model_validate({"steps": [{"id": "look", "use": "free"}]})
    pays = [{"id": f"p{n}", "use": "paid", "with": {"n": n}} for n in range(4)]
    world.skills["buy"] = PlanDefinition.model_validate({"steps": pays})
    steps = [{"id": "a", "by": "one", "skill": "thrifty"}, {"id": "b", "by": "two", "skill": "buy"}]
    report = await world.run(world.order(*steps, budget=Budget(money=dollars(4), steps=5)))

    assert (report.state, spent(report), report.usage.steps) == (OrderState.DONE, 4, 5)
    first = [dict(each["granted"]) for each in await ledger_of(world, "step.dispatched")]  # type: ignore[call-overload]
    assert [each["money"]["amount"] for each in first] == ["2.000000", "2.000000"]


async def test_a_share_in_the_plan_is_kept_for_its_step_and_is_all_that_it_gets(
    store: SqlStore, clock: HandClock
) -> None:
    world = World(store, clock, paid())
    pays = [{"id": f"p{n}", "use": "paid", "after": [f"p{n - 1}"] if n else []} for n in range(4)]
    world.skills["buy"] = PlanDefinition.model_validate({"steps": pays})
    greedy = {"id": "greedy", "by": "one", "skill": "buy"}
    kept = {"id": "kept", "by": "two", "skill": "buy", "after": ["greedy"], "budget": {"money": dollars(2).to_json()}}
    report = await world.run(world.order(greedy, kept, budget=Budget(money=dollars(10))))

    assert (report.state, spent(report)) == (OrderState.PARTIAL, 6)
    assert report.asks is not None and report.asks.limit is Limit.MONEY
    granted = [dict(each["granted"])["money"]["amount"] for each in await ledger_of(world, "step.dispatched")]  # type: ignore[call-overload]
    assert [Decimal(each) for each in granted] == [8, 2]


async def test_a_share_that_was_just_set_aside_is_kept_once(sqlite_store: SqlStore, clock: HandClock) -> None:
    """Counted twice, it would keep the other order from beginning until this one ends, which here waits for it."""
    begun = asyncio.Event()

    async def wait(arguments: object, context: object) -> dict[str, Json]:
        await begun.wait()
        return {"n": 1}

    world = World(sqlite_store, clock, Tool("wait", wait), Tool("begin", lambda a, c: {"set": begun.set()}))
    for name in ("wait", "begin"):
        world.skills[name] = PlanDefinition.model_validate({"steps": [{"id": "do", "use": name}]})
    kept = {"id": "kept", "by": "one", "skill": "wait", "budget": {"steps": 4}}
    order = world.order(kept, {"id": "other", "by": "two", "skill": "begin"}, budget=Budget(steps=5))
    async with asyncio.timeout(60):
        report = await world.run(order)

    assert report.state is OrderState.DONE


async def test_an_unknown_price_is_no_price_where_money_is_limited(store: SqlStore, clock: HandClock) -> None:
    world = World(store, clock, Tool("secretive", lambda a, c: {"n": 1}, costs=None))
    limited = await world.run(world.order({"id": "a", "use": "secretive"}, budget=Budget(money=dollars(5))))
    open_ = await world.run(world.order({"id": "a", "use": "secretive"}))

    assert limited.error is not None and limited.error.code == "PRICE_UNKNOWN"
    assert open_.state is OrderState.DONE and len(world.tools["secretive"].calls) == 1


async def test_a_call_that_clearly_did_nothing_costs_nothing(store: SqlStore, clock: HandClock) -> None:
    refused = paid(lambda a, c: BusinessRefusal("Sold out.", happened="no"))
    world = World(store, clock, refused)
    report = await world.run(world.order({"id": "a", "use": "paid"}, budget=Budget(money=dollars(1))))

    assert (report.state, spent(report)) == (OrderState.FAILED, 0)


async def test_a_call_of_which_nobody_knows_is_paid_once_for_all_its_retries(store: SqlStore, clock: HandClock) -> None:
    world = World(store, clock, paid(lambda a, c: NetworkFault("No answer.")), network_retries=3)
    report = await world.run(world.order({"id": "a", "use": "paid"}, budget=Budget(money=dollars(1))))

    assert (report.state, spent(report)) == (OrderState.FAILED, 1)
    assert world.tools["paid"].keys.most_common(1)[0][1] == 4


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
@pytest.mark.parametrize("committed", [True, False])
async def test_a_crash_between_reserving_and_settling_loses_no_money(
    store: SqlStore, clock: HandClock, effect: Effect, committed: bool
) -> None:
    """O6: whatever append a process dies at, the same calls are paid, each once, and all of the money can be spent."""
    for at in range(1, 12):
        world = World(store, clock, paid(effect=effect, can_look_up=True), settle_s=0)
        order = over(world, twenty(use="paid", at_once=2, **EACH), 5, money=dollars(3))
        with_store(world, CrashingStore(store, at, committed=committed))
        with suppress(Crash):
            await world.run(order)
        report = await with_store(world, store).run(order)

        assert (report.state, spent(report)) == (OrderState.PARTIAL, 3), at
        assert len(world.tools["paid"].keys) == 3, at
        view = fold_order(await store.ledger.read(str(order.order_id)))
        assert not any(unit.reserved for unit in view.units.values())


async def test_an_order_that_is_late_is_shut_out_and_what_it_had_is_free_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """It announced a call when its time was up: that counts as paid, and it announces no other."""
    stuck = asyncio.Event()

    async def hang(arguments: object, context: object) -> dict[str, Json]:
        await stuck.wait()
        return {"n": 1}

    world = World(sqlite_store, clock, paid(hang), Tool("free", lambda a, c: {"n": 1}))
    world.skills["buy"] = PlanDefinition.model_validate({"steps": [{"id": "pay", "use": "paid"}]})
    late = {"id": "late", "by": "one", "skill": "buy", "timeout_s": 0.2, "otherwise": {"use": "free"}}
    report = await world.run(world.order(late, budget=Budget(money=dollars(3))))

    assert (report.state, spent(report)) == (OrderState.DONE, 1)
    (child,) = [order for order in world.staff.orders if order.skill == "buy"]  # type: ignore[union-attr]
    assert (await world.kinds(child))[-1] == "order.withdrawn"
