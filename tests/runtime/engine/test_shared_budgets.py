"""Budgets of departments and processes: what many executions share is never spent twice, on any store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, Effect, ExecutionId, Limit, Money, OrderState, PlanDefinition, StatusReport, TaskOrder
from governance.costs import costs_of_execution
from governance.costs.amounts import total
from runtime.engine.shared import Row, extend
from runtime.engine.shared_budget import Period, SharedBudget
from runtime.errors import NetworkFault
from runtime.ledger import open_store
from runtime.ledger.port import Cursor, CursorChange
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ModelRequest
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World, one_after_the_other
from tests.fakes.model import PlayedModel, ScriptedModel, done

pytestmark = pytest.mark.anyio
PAY = {"id": "pay", "use": "pay", "with": {}}
ASK = {"id": "think", "react": "Go.", "gives": {"n": "integer"}}


def usd(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="USD")


def desk(**limits: Any) -> SharedBudget:
    return SharedBudget("department", "head", Period.DAY, Budget(**limits), UTC)


class Standing:
    def __init__(self, *budgets: SharedBudget) -> None:
        self.budgets: Sequence[SharedBudget] = budgets

    def over(self, order: TaskOrder) -> Sequence[SharedBudget]:
        return [budget for budget in self.budgets if budget.covers(order)]


def a_world(
    store: Any, clock: HandClock, *budgets: SharedBudget, pay: Any = None, effect: Effect = Effect.READ
) -> World:
    world = World(
        store, clock, Tool("pay", pay or (lambda a, c: {}), effect, costs=(usd("1"),)),
        Tool("unknown", lambda a, c: {}, costs=None), shared_budget_wait_s=1.0,
    )  # fmt: skip
    world.execution_id = ExecutionId.new()
    world.shared = Standing(*budgets)
    return world


async def row_of(store: SqlStore, budget: SharedBudget, clock: HandClock) -> Row:
    name = budget.row("acme", clock.now())
    return Row.of(next((each.data for each in await store.ledger.cursors(name) if each.name == name), None))


async def run(world: World, *steps: Any, **facts: Any) -> StatusReport:
    return await world.run(world.order(*steps, **facts))


async def test_of_twenty_executions_at_once_with_a_budget_for_three_three_pay(
    store: SqlStore, clock: HandClock
) -> None:
    """O6, across executions: each has an engine, a stream and a ledger connection of its own."""
    budget, paid = desk(money=usd("3")), []
    worlds = [a_world(store, clock, budget, pay=lambda a, c: paid.append(1) or {}) for _ in range(20)]

    reports = await asyncio.gather(*(run(world, PAY) for world in worlds))

    assert len(paid) == 3
    assert sorted(report.state for report in reports) == [OrderState.DONE] * 3 + [OrderState.PARTIAL] * 17
    row = await row_of(store, budget, clock)
    assert (row.spent[Limit.MONEY], row.open) == (Decimal(3), {})


async def test_two_servers_on_one_database_spend_a_budget_once(store_url: str, tmp_path: Any, clock: HandClock) -> None:
    settings, budget, paid = LedgerSettings(url=store_url), desk(money=usd("3")), []
    stores = [await open_store(settings, home=tmp_path, clock=clock) for _ in range(2)]
    try:
        worlds = [a_world(stores[n % 2], clock, budget, pay=lambda a, c: paid.append(1) or {}) for n in range(12)]
        await asyncio.gather(*(run(world, PAY) for world in worlds))
        row = await row_of(stores[0], budget, clock)
    finally:
        for each in stores:
            await each.close()

    assert (len(paid), row.spent[Limit.MONEY], row.open) == (3, Decimal(3), {})


async def test_of_twenty_calls_of_one_order_three_are_made_and_what_they_gave_is_kept(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, desk(money=usd("3")))
    step = {**PAY, "for_each": "{{ context.items }}", "at_once": 20}
    report = await run(world, step, context={"items": list(range(20))})

    assert (report.state, len(world.tools["pay"].calls)) == (OrderState.PARTIAL, 3)
    assert report.error is not None and report.asks is not None
    assert "The budget of the department head for 2013-02-08 does not reach (money)" in report.error.message
    assert report.error.facts["budget"] == "department/head/day"


async def test_with_more_the_rest_goes_on_and_nothing_is_repeated(sqlite_store: SqlStore, clock: HandClock) -> None:
    """O7."""
    budget = desk(money=usd("3"))
    world = a_world(sqlite_store, clock, budget)
    order = world.order({**PAY, "for_each": "{{ context.items }}"}, context={"items": list(range(5))})
    assert (await world.run(order)).state is OrderState.PARTIAL

    row = budget.row("acme", clock.now())
    more = CursorChange(row, lambda stands: extend({Limit.MONEY: Decimal(2)}, stands))
    await sqlite_store.ledger.append(cursors=[more])
    world.reopen = True

    assert (await world.run(order)).state is OrderState.DONE
    assert max(world.tools["pay"].keys.values()) == 1
    assert len(world.tools["pay"].calls) == 5


async def test_the_next_day_begins_anew(sqlite_store: SqlStore, clock: HandClock) -> None:
    budget = desk(money=usd("1"))
    assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.DONE
    assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.PARTIAL
    clock.advance(86_400)
    assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.DONE


async def test_a_price_that_nobody_knows_is_not_called_where_the_department_has_a_budget_of_money(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    report = await run(a_world(sqlite_store, clock, desk(money=usd("9"))), {"id": "ask", "use": "unknown", "with": {}})
    assert report.error is not None and report.error.code == "PRICE_UNKNOWN"


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("at", range(6))
async def test_killed_at_any_commit_the_call_is_set_aside_once_and_settled_once(
    sqlite_store: SqlStore, clock: HandClock, at: int, committed: bool, effect: Effect
) -> None:
    budget = desk(money=usd("1"))
    world = a_world(CrashingStore(sqlite_store, at, committed=committed), clock, budget, effect=effect)
    order = world.order(PAY)
    try:
        await world.run(order)
    except Crash:
        row = await row_of(sqlite_store, budget, clock)
        assert row.spent.get(Limit.MONEY, 0) + row.set_aside(Limit.MONEY) in (0, 1)
        if world.tools["pay"].calls:  # it may have been paid for: nobody else gets it
            assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.PARTIAL
    world.store = sqlite_store

    report = await world.run(order)
    if report.state is OrderState.WAITING:  # an effect in doubt: a person says that it happened
        world.gate.decide(report.waiting_for[0], True)
        report = await world.run(order)

    assert report.state is OrderState.DONE
    row = await row_of(sqlite_store, budget, clock)
    assert (row.spent[Limit.MONEY], row.open) == (Decimal(1), {})
    assert dict(total(await costs_of_execution(sqlite_store.ledger, world.execution_id)).money)["USD"] == Decimal(1)


async def test_a_call_that_surely_did_not_happen_gives_back_what_it_set_aside(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    budget = desk(money=usd("1"))
    down = one_after_the_other(NetworkFault("down", happened="no"))
    report = await run(a_world(sqlite_store, clock, budget, pay=down), PAY)
    assert report.state is OrderState.FAILED
    row = await row_of(sqlite_store, budget, clock)
    assert (row.spent.get(Limit.MONEY, 0), row.open) == (0, {})


async def test_an_answer_of_a_model_draws_its_worst_case_and_counts_what_it_took(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    budget = desk(tokens=25)
    reports = []
    for _ in range(3):
        world = a_world(sqlite_store, clock, budget)
        world.model = PlayedModel(done(n=1))
        reports.append((await run(world, ASK)).state)

    assert reports == [OrderState.DONE, OrderState.DONE, OrderState.PARTIAL]
    row = await row_of(sqlite_store, budget, clock)
    assert (row.spent[Limit.TOKENS], row.open) == (20, {})


def killed(request: ModelRequest) -> ModelAnswer:
    raise Crash("killed")


async def test_a_request_that_a_kill_met_counts_at_its_worst(sqlite_store: SqlStore, clock: HandClock) -> None:
    budget = desk(tokens=25)
    world = a_world(sqlite_store, clock, budget)
    world.model = ScriptedModel(killed, done(n=1))
    order = world.order(ASK)
    with pytest.raises(Crash):
        await world.run(order)
    assert (await row_of(sqlite_store, budget, clock)).set_aside(Limit.TOKENS) == 10

    assert (await world.run(order)).state is OrderState.DONE
    row = await row_of(sqlite_store, budget, clock)
    assert (row.spent[Limit.TOKENS], row.open) == (20, {})


async def test_seconds_that_are_used_up_let_nothing_more_begin(sqlite_store: SqlStore, clock: HandClock) -> None:
    budget = desk(seconds=60)
    assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.DONE
    assert 0 < (await row_of(sqlite_store, budget, clock)).spent[Limit.SECONDS] < 60

    row = budget.row("acme", clock.now())
    used_up = CursorChange(row, lambda stands: Cursor(row, stands.position + 1, data={"spent": {"seconds": "60"}}))
    await sqlite_store.ledger.append(cursors=[used_up])
    assert (await run(a_world(sqlite_store, clock, budget), PAY)).state is OrderState.PARTIAL


async def test_a_process_pays_for_all_that_it_has_others_do_and_a_department_for_all_below(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    process = SharedBudget("process", "close", Period.MONTH, Budget(money=usd("9")), UTC)
    other = SharedBudget("department", "elsewhere", Period.WEEK, Budget(money=usd("0")), UTC)
    world = a_world(sqlite_store, clock, desk(money=usd("9")), process, other)
    world.skills["settle"] = PlanDefinition.model_validate({"steps": [PAY]})

    await run(world, {"id": "below", "by": "clerk", "skill": "settle"}, PAY, skill="close")

    for budget, spent in ((desk(money=usd("9")), 2), (process, 2), (other, 0)):
        assert (await row_of(sqlite_store, budget, clock)).spent.get(Limit.MONEY, 0) == spent


def test_periods_have_names() -> None:
    moment = HandClock().now()
    assert [period.window(moment) for period in Period] == ["2013-02-08", "2013-W06", "2013-02"]
