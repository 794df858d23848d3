from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from contracts import Ancestor, Budget, Limit, OrderId, OrderState, PlanDefinition, StepLeft, Usage
from runtime.engine.budget import enforce_budget
from runtime.errors import BudgetExceeded
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
ITEMS = {"parameters": {"items": {"type": "array"}}}


def world_of(store: SqlStore, clock: HandClock, **settings: Any) -> World:
    return World(store, clock, Tool("work", lambda a, c: {"n": 1}), **settings)


def chained(count: int) -> list[dict[str, Any]]:
    return [{"id": f"s{n}", "use": "work", "after": [f"s{n - 1}"] if n else []} for n in range(count)]


async def test_a_budget_of_steps_ends_with_what_there_is(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = world_of(sqlite_store, clock)
    report = await world.run(world.order(*chained(10), budget=Budget(steps=3)))

    assert (report.state, report.usage.steps, report.progress) == (OrderState.PARTIAL, 3, 0.3)
    assert report.error is not None and report.error.code == "BUDGET_EXCEEDED"
    assert report.output == {f"s{n}": {"n": 1} for n in range(3)}


async def test_a_cap_reports_what_is_done_and_missing_and_how_much_more_it_takes(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    report = await world.run(world.order(*chained(10), budget=Budget(steps=3)))

    asks = report.asks
    assert asks is not None and (asks.limit, asks.had) == (Limit.STEPS, Budget(steps=3))
    assert asks.done == ("s0", "s1", "s2")
    assert [left.step for left in asks.missing] == [f"s{n}" for n in range(3, 10)]
    assert (asks.least, asks.asked) == (Budget(steps=1), Budget(steps=7))


async def test_a_cap_inside_a_repetition_counts_the_items_that_are_missing(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    step = {"id": "each", "use": "work", "for_each": "{{ items }}"}
    report = await world.run(world.order(step, plan=ITEMS, inputs={"items": list(range(10))}, budget=Budget(steps=3)))

    asks = report.asks
    assert asks is not None and asks.missing == (StepLeft(step="each", done=3, missing=7),)
    assert asks.asked == Budget(steps=7)


async def test_a_larger_budget_lets_the_rest_go_on_without_repeating_work(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """O7: cap 3 on a task of 10; extend; no repeated work."""
    world = world_of(sqlite_store, clock)
    order = world.order(*chained(10), budget=Budget(steps=3))
    await world.run(order)
    world.reopen = True

    report = await world.run(order.model_copy(update={"budget": Budget(steps=100)}))

    assert (report.state, len(world.tools["work"].calls)) == (OrderState.DONE, 10)


async def test_steps_at_once_do_not_all_pass_the_same_budget(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = world_of(sqlite_store, clock)
    steps = [{"id": f"s{n}", "use": "work"} for n in range(8)]

    report = await world.run(world.order(*steps, budget=Budget(steps=3)))

    assert report.state is OrderState.PARTIAL
    assert len(world.tools["work"].calls) == 3


async def test_a_deadline_that_has_passed_is_a_limit(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = world_of(sqlite_store, clock)

    report = await world.run(world.order(*chained(1), deadline=clock.now() - timedelta(seconds=1)))

    assert report.error is not None and report.error.facts["limit"] == "deadline"


def test_seconds_are_a_limit_of_work_done() -> None:
    with pytest.raises(BudgetExceeded, match="budget of seconds"):
        enforce_budget(Budget(seconds=5), Usage(seconds=5))


def above(*names: tuple[str, str]) -> tuple[Ancestor, ...]:
    return tuple(Ancestor(order_id=OrderId.new(), employee=name, skill=skill) for name, skill in names)


@pytest.mark.parametrize(
    ("chain", "setting"),
    [
        (above(*((f"e{n}", f"s{n}") for n in range(20))), "chain_length"),
        (above(*((f"e{n}", f"s{n}") for n in range(5))), "tree_depth"),
        (above(("head", "a"), ("x", "b"), ("head", "c"), ("x", "d"), ("head", "e"), ("x", "f")), "tree_depth"),
        (above(*(("head", f"s{n}") for n in range(5))), "nesting_depth"),
        (above(("a", "mine"), ("b", "mine"), ("c", "mine")), "same_id_in_chain"),
    ],
)
async def test_a_chain_past_its_limit_is_stopped_and_says_which_setting(
    sqlite_store: SqlStore, clock: HandClock, chain: tuple[Ancestor, ...], setting: str
) -> None:
    world = world_of(sqlite_store, clock)

    report = await world.run(world.order(*chained(1), chain=chain, skill="mine"))

    assert report.error is not None and report.error.code == "RECURSION_STOPPED"
    assert report.error.facts["setting"] == f"engine.{setting}"
    assert world.tools["work"].calls == []


async def test_two_employees_that_delegate_to_each_other_are_stopped(sqlite_store: SqlStore, clock: HandClock) -> None:
    """O1: a pair handing work to each other."""
    world = world_of(sqlite_store, clock, tree_depth=50, same_id_in_chain=50)
    for mine, other in (("ping", "pong"), ("pong", "ping")):
        step = {"id": "on", "by": f"{other}-er", "skill": other}
        world.skills[mine] = PlanDefinition.model_validate({"steps": [step]})

    report = await world.run(world.order({"id": "go", "by": "ping-er", "skill": "ping"}))

    assert report.error is not None and report.error.facts["setting"] == "engine.same_employee_in_chain"
    assert len(await sqlite_store.ledger.streams("order")) < 10
