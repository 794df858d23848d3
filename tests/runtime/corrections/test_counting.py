"""Every correction of a model is told by the events that the engine writes, for its tool."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from contracts import OrderState, Parameter, PlanDefinition, PlausibilityRule, TaskOrder, ValueType
from runtime.corrections import COUNTED_OF, Guard, Occasion
from runtime.corrections.counting import counted
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done, says
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look"], "gives": {"n": "integer"}, "iterations": 4}
AGAIN = calls(("look", {"n": 1}))
ODD = PlausibilityRule(check="false", message="Odd.")
FINE = PlausibilityRule(check="true", message="Odd.")
LONG = "x" * 20_000


def answered(content: str = '{"n": 1}', **facts: Any) -> ModelAnswer:
    return ModelAnswer(content, facts=facts)


def world_of(store: SqlStore, clock: HandClock, *answers: Any, plausible: Any = (), fails: int = 0) -> World:
    left = [NetworkFault("away")] * fails

    def look(arguments: Any, context: Any) -> Any:
        if left:
            raise left.pop()
        return {}

    world = World(store, clock, Tool("look", look, plausible=plausible))
    spec = world.tools["look"].spec
    fields = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    number = Parameter(type=ValueType.INTEGER, required=False)
    world.tools["look"].spec = type(spec)(**{**fields, "parameters": {"n": number}, "open_arguments": False})
    world.model = ScriptedModel(*answers)
    return world


async def counts_of(world: World, order: TaskOrder) -> Counter[tuple[str, str]]:
    events = await world.store.ledger.read(str(order.order_id))
    return Counter((series.what, series.tool) for event in events for series in counted(event, "m"))


async def counts(world: World, **step: Any) -> Counter[tuple[str, str]]:
    order = world.order({**THINK, **step})
    await world.run(order)
    return await counts_of(world, order)


@pytest.mark.parametrize(
    ("answers", "guard", "tool", "times"),
    [
        ([says("no json"), done(n=1)], Guard.ANSWER_REFUSED, "", 1),
        ([done(n="x")] * 3, Guard.ANSWER_REFUSED, "", 3),
        ([calls(("look", {"n": "x"})), done(n=1)], Guard.ARGUMENTS_INVALID, "look", 1),
        ([calls(("step_control", {"say": "what"})), done(n=1)], Guard.ARGUMENTS_INVALID, "step_control", 1),
        ([calls(("look_up", {})), done(n=1)], Guard.UNKNOWN_TOOL, "", 1),
        ([AGAIN] * 3, Guard.CALL_REPEATED, "look", 1),
        ([calls(("look", {"n": n})) for n in range(4)], Guard.ITERATION_LIMIT, "", 1),
        ([answered(faults=["calls came as text"])], Guard.CALLS_AS_TEXT, "", 1),
        ([answered(dropped=["look: no arguments fit it"])], Guard.TOOL_DROPPED, "look", 1),
        ([answered(usage_estimated=True)], Guard.USAGE_ESTIMATED, "", 1),
        ([says(LONG), answered()], Guard.ANSWER_REFUSED, "", 1),
        ([answered(LONG, usage_estimated=True, dropped=["look: x"]), answered()], Guard.USAGE_ESTIMATED, "", 1),
        ([answered(LONG, faults=["other", "calls came as text"]), answered()], Guard.CALLS_AS_TEXT, "", 1),
        ([NetworkFault("away"), done(n=1)], Guard.UNANSWERED, "", 1),
    ],
)
async def test_each_guard_that_fires_counts_one(
    sqlite_store: SqlStore, clock: HandClock, answers: list[Any], guard: Guard, tool: str, times: int
) -> None:
    found = await counts(world_of(sqlite_store, clock, *answers))

    fired = {key: count for key, count in found.items() if key[0] in frozenset(map(str, Guard))}
    assert fired.pop((guard, tool)) == times
    assert fired.keys() <= {(Guard.TOOL_DROPPED, "look"), (Guard.ANSWER_REFUSED, "")}  # of the long one with more
    assert found[COUNTED_OF[guard], tool] or found[COUNTED_OF[guard], ""]


async def test_a_result_counts_as_judged_whether_it_was_odd_or_not(sqlite_store: SqlStore, clock: HandClock) -> None:
    odd = await counts(world_of(sqlite_store, clock, AGAIN, done(n=1), plausible=(ODD,)))
    fine = await counts(world_of(sqlite_store, clock, AGAIN, done(n=1), plausible=(FINE,)))
    none = await counts(world_of(sqlite_store, clock, AGAIN, done(n=1)))

    assert (odd[Guard.RESULT_SUSPICIOUS, "look"], odd[Occasion.JUDGED, "look"]) == (1, 1)
    assert (fine[Guard.RESULT_SUSPICIOUS, "look"], fine[Occasion.JUDGED, "look"]) == (0, 1)
    assert none[Occasion.JUDGED, "look"] == 0


async def test_an_odd_output_of_the_step_is_counted_apart_from_one_that_was_refused(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    found = await counts(
        world_of(sqlite_store, clock, done(n=1), done(n=1)), plausible=[{"check": "false", "message": "Odd."}]
    )

    assert found[Guard.OUTPUT_SUSPICIOUS, ""] == 1
    assert found[Guard.ANSWER_REFUSED, ""] == 0


async def test_the_event_of_a_long_answer_stays_short_whatever_the_endpoint_says_about_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    told = answered(asked="m", model=LONG, faults=[LONG], usage_estimated=True)
    world = world_of(sqlite_store, clock, told)
    order = world.order(THINK)
    await world.run(order)

    (event,) = [each for each in await sqlite_store.ledger.read(str(order.order_id)) if each.type == "model.answered"]
    assert event.data is not None
    assert event.data["facts"] == {"asked": "m", "usage_estimated": True}


async def test_a_call_that_was_made_again_is_one_call(sqlite_store: SqlStore, clock: HandClock) -> None:
    found = await counts(world_of(sqlite_store, clock, AGAIN, done(n=1), fails=2))

    assert found[Guard.CALL_RETRIED, "look"] == 2
    assert found[Occasion.CALLS, "look"] == 1


async def test_occasions_are_answers_steps_and_calls_and_those_of_control_too(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    found = await counts(world_of(sqlite_store, clock, calls(("look", {"n": 1}), ("look", {"n": 2})), done(n=1)))

    assert found == {
        (Occasion.ANSWERS, ""): 2, (Occasion.REQUESTS, ""): 2, (Occasion.STEPS, ""): 1, (Occasion.CALLS, "look"): 2,
        (Occasion.CALLS, "step_control"): 1,
    }  # fmt: skip


async def test_what_fails_in_an_order_below_counts_there_alone(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = world_of(sqlite_store, clock, *[done(n="x")] * 3)
    world.skills["think"] = PlanDefinition.model_validate({"steps": [THINK]})
    order = world.order({"id": "pass_on", "skill": "think", "by": "bob"})
    assert (await world.run(order)).state is OrderState.FAILED
    (below,) = world.staff.orders if world.staff else ()

    assert (await counts_of(world, below))[Guard.ANSWER_REFUSED, ""] == 3
    assert await counts_of(world, order) == {}


async def test_a_skill_that_fails_below_is_a_call_and_no_fault_of_whoever_made_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    wrong = calls(("look", {"n": "x"}))
    world = world_of(sqlite_store, clock, calls(("ponder", {})), *[wrong] * 3, done(n=1))
    world.skills["ponder"] = PlanDefinition.model_validate({"steps": [{**THINK, "iterations": 9}]})
    order = world.order({"id": "ask", "react": "Go.", "skills": ["ponder"], "gives": {"n": "integer"}})
    assert (await world.run(order)).state is OrderState.DONE
    (below,) = world.staff.orders if world.staff else ()

    assert (await counts_of(world, below))[Guard.CALL_REPEATED, "look"] == 1
    above = await counts_of(world, order)
    assert above[Occasion.CALLS, "ponder"] == 1
    assert not [key for key in above if key[0] in frozenset(map(str, Guard))]
