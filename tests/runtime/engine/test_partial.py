"""O7: reaching a cap gives a report of what there is, at every depth, and more lets the rest go on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from contracts import Budget, OrderState, PlanDefinition, TaskOrder
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
TEN = [f"p{n}" for n in range(10)]


def working(store: SqlStore, clock: HandClock) -> World:
    return World(store, clock, Tool("work", lambda a, c: {"did": a["n"]}))


def done(world: World) -> Counter[Any]:
    return Counter(call["n"] for call in world.tools["work"].calls)


async def extended(world: World, order: TaskOrder, steps: int) -> Any:
    world.reopen = True
    return await world.run(order.model_copy(update={"budget": Budget(steps=steps)}))


async def test_a_capped_repetition_shows_what_is_done_in_its_place(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = working(sqlite_store, clock)
    each = {"id": "each", "use": "work", "with": {"n": "{{ item }}"}, "for_each": "{{ context.parts }}", "at_once": 1}
    order = world.order(each, context={"parts": TEN}, budget=Budget(steps=3), plan={"gives": {"all": "{{ each }}"}})

    capped = await world.run(order)
    report = await extended(world, order, 10)

    assert (capped.state, capped.output) == (OrderState.PARTIAL, {"all": [{"did": "p0"}, {"did": "p1"}, {"did": "p2"}]})
    assert (report.state, report.output) == (OrderState.DONE, {"all": [{"did": part} for part in TEN]})
    assert set(done(world).values()) == {1}


async def test_a_capped_group_shows_the_branches_that_are_done(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = working(sqlite_store, clock)
    branches = [{"id": name, "use": "work", "with": {"n": name}} for name in ("a", "b", "c")]
    order = world.order({"id": "g", "parallel": branches, "at_once": 1}, budget=Budget(steps=2))

    capped = await world.run(order)

    assert capped.output == {"a": {"did": "a"}, "b": {"did": "b"}, "c": None}


def three_levels(world: World) -> TaskOrder:
    """Return the order of a head whose manager has a worker do ten parts."""
    parts = [{"id": part, "use": "work", "with": {"n": part}, "after": TEN[n - 1 : n] if n else []}
             for n, part in enumerate(TEN)]  # fmt: skip
    other = {"by": "stranger", "skill": "instead", "with": {}}
    manager = [
        {"id": "m1", "use": "work", "with": {"n": "m1"}},
        {"id": "m2", "by": "worker", "skill": "deep", "after": ["m1"], "otherwise": other},
    ]
    gives = {"first": "{{ p0.did }}", "last": "{{ p9.did }}"}
    world.skills |= {
        "deep": PlanDefinition.model_validate({"steps": parts, "gives": gives}),
        "middle": PlanDefinition.model_validate({"steps": manager, "gives": {"found": "{{ m2.first }}"}}),
        "instead": PlanDefinition.model_validate({"steps": [{"id": "i", "use": "work", "with": {"n": "instead"}}]}),
    }
    return world.order(
        {"id": "h1", "by": "manager", "skill": "middle"},
        {"id": "h2", "use": "work", "with": {"n": "h2"}, "after": ["h1"]},
        budget=Budget(steps=5), plan={"gives": {"found": "{{ h1.found }}", "own": "{{ h2.did }}"}},
    )  # fmt: skip


async def test_what_a_capped_order_below_has_comes_up_through_its_manager(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = working(sqlite_store, clock)
    order = three_levels(world)

    capped = await world.run(order)

    assert (capped.state, capped.output) == (OrderState.PARTIAL, {"found": "p0", "own": None})
    assert capped.error is not None and capped.error.code == "BUDGET_EXCEEDED"


async def test_more_at_the_root_reaches_the_order_that_was_capped_and_repeats_nothing(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = working(sqlite_store, clock)
    order = three_levels(world)
    await world.run(order)
    orders = len(await sqlite_store.ledger.streams("order"))

    still = await extended(world, order, 8)
    report = await extended(world, order, 100)

    assert still.state is OrderState.PARTIAL
    assert (report.state, report.output) == (OrderState.DONE, {"found": "p0", "own": "h2"})
    assert done(world) == dict.fromkeys([*TEN, "m1", "h2"], 1)
    assert len(await sqlite_store.ledger.streams("order")) == orders == 3


async def test_a_cap_is_not_answered_by_another_way(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = working(sqlite_store, clock)

    await world.run(three_levels(world))

    assert "instead" not in done(world)
