"""Back to Plan with what was learnt: the declared other ways of a step, one behind the other."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition, Step
from runtime.engine.resume import open_view
from runtime.errors import BusinessRefusal
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def find(arguments: Any, context: Any) -> Any:
    """Find nothing below 28 days, and refuse where it is told to."""
    if "refuse" in arguments:
        return BusinessRefusal(str(arguments["refuse"]), happened="no", wide=arguments["refuse"] == "too wide")
    return {"n": 5 if arguments["days"] >= 28 else 0, **arguments}


def world_of(store: SqlStore, clock: HandClock, **settings: Any) -> World:
    return World(store, clock, Tool("find", find), Tool("after", lambda a, c: a), **settings)


def finding(*ways: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a step with other ways, each behind the one before."""
    otherwise: dict[str, Any] | None = None
    for way in reversed(ways):
        otherwise = {**way, **({"otherwise": otherwise} if otherwise else {})}
    return {"id": "find", "use": "find", "with": {"days": 7, "origin": "EWR"}, "accept": ["n > 0"],
            "otherwise": otherwise, **more}  # fmt: skip


async def revisions(store: SqlStore, order: Any) -> list[tuple[Any, ...]]:
    events = await store.ledger.read(str(order.order_id))
    told = [event.data for event in events if event.type == "plan.revised" and event.data]
    return [(data["revision"], data["change"], data.get("way")) for data in told]


async def test_ways_are_tried_one_behind_the_other_with_the_parameters_that_change(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    order = world.order(finding({"with": {"days": 14}}, {"with": {"days": 28}}))

    report = await world.run(order)

    assert report.output == {"n": 5, "days": 28, "origin": "EWR"}
    assert [call["days"] for call in world.tools["find"].calls] == [7, 14, 28]
    assert await revisions(sqlite_store, order) == [(1, "otherwise", 1), (2, "otherwise", 2)]


async def test_a_step_may_be_gone_on_without_and_what_reads_into_it_is_skipped_too(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    reads = {"id": "reads", "use": "after", "with": {"x": "{{ find.n }}"}}
    waits = {"id": "waits", "use": "after", "with": {"x": 1}, "after": ["find"]}
    order = world.order(
        finding({"skip": True}), reads, waits, plan={"gives": {"n": "{{ find.n }}", "x": "{{ waits.x }}"}}
    )

    report = await world.run(order)
    view = await world.view(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": None, "x": 1})
    assert "its other way is to go on without it" in view.unit("find").why
    assert await revisions(sqlite_store, order) == [(1, "skip", 1)]


@pytest.mark.parametrize("repeated", [{"for_each": "{{ context.days }}"}, {"until": {"check": "n > 9", "most": 3}}])
async def test_a_repetition_that_is_skipped_is_not_done_when_the_order_goes_on(
    sqlite_store: SqlStore, clock: HandClock, repeated: dict[str, Any]
) -> None:
    world = world_of(sqlite_store, clock)
    with_ = {"days": "{{ item }}"} if "for_each" in repeated else {"days": 7}
    order = world.order(finding({"skip": True}, **repeated, **{"with": with_}), context={"days": [28, 7]})

    report = await world.run(order)
    again = await open_view(sqlite_store.ledger, str(order.order_id))

    assert report.state is OrderState.DONE
    assert again.state_of("find").settled
    if "for_each" in repeated:
        assert report.output == [{"n": 5, "days": 28}, None]


@pytest.mark.parametrize(("refusal", "way"), [("too wide", "narrow"), ("closed", "other")])
async def test_the_rule_of_a_way_decides_by_what_went_wrong(
    sqlite_store: SqlStore, clock: HandClock, refusal: str, way: str
) -> None:
    world = world_of(sqlite_store, clock)
    step = {"id": "find", "use": "find", "with": {"refuse": refusal},
            "otherwise": {"when": "problem.facts.wide", "use": "after", "with": {"way": "narrow"},
                          "otherwise": {"use": "after", "with": {"way": "other"}}}}  # fmt: skip

    report = await world.run(world.order(step))

    assert report.output == {"way": way}


async def test_a_plan_is_revised_three_times_and_no_more(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = world_of(sqlite_store, clock)
    order = world.order(finding(*({"with": {"days": days}} for days in (8, 9, 10, 28))))

    report = await world.run(order)

    assert (report.state, len(world.tools["find"].calls)) == (OrderState.FAILED, 4)
    assert len(await revisions(sqlite_store, order)) == 3


async def test_finished_work_is_kept_and_an_effect_is_never_done_another_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    pay = Tool("pay", lambda a, c: {"n": 0}, Effect.WRITE)
    world = World(sqlite_store, clock, pay, Tool("after", lambda a, c: a))
    first = {"id": "first", "use": "after", "with": {"x": 1}}
    order = world.order(first, finding({"skip": True}, use="pay", after=["first"]))

    report = await world.run(order)

    assert (report.state, len(pay.calls), len(world.tools["after"].calls)) == (OrderState.FAILED, 1, 1)
    assert await revisions(sqlite_store, order) == []


async def test_a_manager_whose_order_below_fails_asks_another_then_goes_on_without(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    world.skills["dig"] = PlanDefinition.model_validate(
        {"steps": [{"id": "d", "use": "find", "with": {"refuse": "closed"}}]}
    )
    step = {"id": "find", "by": "first", "skill": "dig",
            "otherwise": {"by": "second", "skill": "dig", "otherwise": {"skip": True}}}  # fmt: skip
    order = world.order(step, {"id": "rest", "use": "after", "with": {"x": 1}, "after": ["find"]})

    report = await world.run(order)

    assert world.staff is not None
    assert (report.state, [each.employee for each in world.staff.orders]) == (OrderState.DONE, ["first", "second"])
    assert await revisions(sqlite_store, order) == [(1, "otherwise", 1), (2, "skip", 2)]


async def test_an_order_below_that_repeated_in_vain_is_answered_by_another_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = world_of(sqlite_store, clock)
    poll = {"id": "p", "use": "after", "with": {"x": 1}, "until": {"check": "x > 1", "most": 2}}
    world.skills["poll"] = PlanDefinition.model_validate({"steps": [poll]})

    report = await world.run(
        world.order({"id": "wait", "by": "other", "skill": "poll", "otherwise": {"use": "after", "with": {"x": 5}}})
    )

    assert (report.state, report.output) == (OrderState.DONE, {"x": 5})


def test_a_way_that_skips_does_nothing_else() -> None:
    with pytest.raises(ValueError, match="does nothing else"):
        Step.model_validate({"id": "a", "use": "x", "otherwise": {"skip": True, "use": "y"}})
