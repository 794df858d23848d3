"""Costs by day, counted once from the ledger, by whatever process, on every store."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from contracts import ExecutionId, Money, PlanDefinition, Usage
from governance.costs import Cost, CostBook, costs_of_execution, summed_by
from governance.costs.amounts import total
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ToolCall
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel

pytestmark = pytest.mark.anyio
DOLLAR = Money(amount=Decimal("0.25"), currency="USD")
PAY = {"id": "pay", "use": "pay", "with": {}}
ASK = {"id": "think", "react": "Go.", "gives": {"n": "integer"}}


def answered(**usage: Any) -> ModelAnswer:
    call = ToolCall("c", "step_control", {"say": "done", "output": {"n": 1}})
    return ModelAnswer("", [call], Usage(tokens_in=100, tokens_out=20, **usage))


def a_world(store: SqlStore, clock: HandClock, *answers: ModelAnswer) -> World:
    world = World(
        store,
        clock,
        Tool("pay", lambda a, c: {}, costs=(DOLLAR,)),
        Tool("unknown", lambda a, c: {}, costs=None),
    )
    world.model = PlayedModel(*answers)
    world.execution_id = ExecutionId.new()
    return world


async def begun(world: World) -> None:
    data = {"models": {"reason": "large-1"}}
    event = NewEvent("execution.requested", data)
    await world.store.ledger.append(
        Append(str(world.execution_id), [event], 0, "acme", "/test", execution_id=world.execution_id)
    )


async def test_costs_are_told_by_everything_and_add_up_to_what_the_root_order_reports(
    store: SqlStore, clock: HandClock
) -> None:
    world = a_world(store, clock, answered(money=(DOLLAR,)))
    await begun(world)
    world.skills["settle"] = PlanDefinition.model_validate({"steps": [PAY, {**ASK, "after": ["pay"]}]})
    order = world.order({"id": "below", "by": "clerk", "skill": "settle"}, {**PAY, "after": ["below"]}, skill="close")

    report = await world.run(order)

    days = await CostBook(store.ledger).days("acme")
    whole = total(days)
    assert dict(whole.money) == {each.currency: each.amount for each in report.usage.money} == {"USD": Decimal("0.75")}
    assert (whole.tokens_in, whole.tokens_out, whole.steps) == (100, 20, report.usage.steps)
    assert whole.seconds == pytest.approx(report.usage.seconds, abs=1e-4)
    assert whole.unpriced == 0
    assert total(await costs_of_execution(store.ledger, world.execution_id)).money == whole.money

    assert {key: dict(cost.money) for key, cost in summed_by("agent", days).items()} == {
        "clerk": {"USD": Decimal("0.50")},
        "head": {"USD": Decimal("0.25")},
    }
    assert set(summed_by("department", days)) == {"head", "head/clerk"}
    assert summed_by("department", days)["head"] == whole
    assert set(summed_by("process", days)) == {"close"}
    assert set(summed_by("step", days)) == {"settle/pay", "settle/think", "close/pay"}
    assert summed_by("model", days)["large-1"].tokens_in == 100
    assert list(summed_by("day", days)) == [f"{clock.now():%Y-%m-%d}"]


async def test_a_price_that_nobody_knows_is_counted_as_unknown_and_never_as_nothing(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, answered())
    await world.run(world.order(ASK, {"id": "ask", "use": "unknown", "with": {}}))

    whole = total(await CostBook(sqlite_store.ledger).days("acme"))

    assert (whole.money, whole.unpriced) == ((), 2)


async def test_only_what_is_new_is_counted_and_by_whichever_process(store: SqlStore, clock: HandClock) -> None:
    first, second = CostBook(store.ledger), CostBook(store.ledger)
    for round_ in range(3):
        world = a_world(store, clock)
        await world.run(world.order(PAY))
        for book in (first, second, first):
            assert dict(total(await book.days("acme")).money) == {"USD": Decimal("0.25") * (round_ + 1)}


async def test_days_are_chosen_and_organisations_kept_apart(sqlite_store: SqlStore, clock: HandClock) -> None:
    today = clock.now().date()
    for days in range(3):
        world = a_world(sqlite_store, clock)
        await world.run(world.order(PAY))
        if days < 2:
            clock.advance(timedelta(days=1).total_seconds())
    book = CostBook(sqlite_store.ledger)

    assert list(await book.days("acme", since=today + timedelta(days=1))) == [
        str(today + timedelta(days=1)),
        str(today + timedelta(days=2)),
    ]
    assert list(await book.days("acme", until=today)) == [str(today)]
    assert await book.days("other") == {}
    assert await book.organisations() == ["acme"]


async def test_what_is_kept_can_be_made_anew_from_the_events(store: SqlStore, clock: HandClock) -> None:
    world = a_world(store, clock)
    await world.run(world.order(PAY))
    book = CostBook(store.ledger)
    before = await book.days("acme")

    await book.rebuild()

    assert await CostBook(store.ledger).days("acme") == before


async def test_a_question_reads_no_event_again(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    await world.run(world.order(PAY))
    await CostBook(sqlite_store.ledger).days("acme")
    read = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            return getattr(sqlite_store.ledger, name)

        async def read_all(self, **asked: Any) -> Any:
            found = await sqlite_store.ledger.read_all(**asked)
            read.extend(found)
            return found

    book = CostBook(Watched())  # type: ignore[arg-type]
    assert total(await book.days("acme", since=date(2000, 1, 1))) != Cost()
    assert read == []
