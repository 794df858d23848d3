"""Odd results inside a conversation: the model is told, once, and nobody takes them for faults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts import OrderState, PlausibilityRule
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World, one_after_the_other
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
LATE = PlausibilityRule(check="minutes < 1000", message={"en": "That is hours.", "zh": "这是小时。"})
THINK: dict[str, Any] = {"id": "think", "react": "How late?", "tools": ["look"], "gives": {"n": "integer"}}
FEW = {"check": "n < 100", "message": "More than there are flights."}


def a_world(store: SqlStore, clock: HandClock, *answers: Any, looks: Any = ()) -> World:
    world = World(store, clock, Tool("look", one_after_the_other(*looks or ({"minutes": 9},)), plausible=(LATE,)))
    world.model = ScriptedModel(*answers)
    return world


def results(world: World) -> list[Any]:
    """What the newest request tells of the calls."""
    assert isinstance(world.model, ScriptedModel)
    return [json.loads(m["content"]) for m in world.model.requests[-1].messages if m["role"] == "tool"]


async def test_an_odd_result_of_a_call_is_told_to_the_model_beside_it(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {})), done(n=1), looks=[{"minutes": 9000}])

    assert (await world.run(world.order(THINK))).state is OrderState.DONE

    assert results(world) == [{"minutes": 9000, "__suspicious": ["That is hours."]}]


async def test_it_is_told_in_the_language_of_the_order(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {})), done(n=1), looks=[{"minutes": 9000}])

    await world.run(world.order(THINK, language="zh"))

    assert results(world)[0]["__suspicious"] == ["这是小时。"]


async def test_each_odd_result_is_told_once_and_a_plain_one_says_nothing(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    looks = calls(("look", {"a": 1}), ("look", {"a": 1})), calls(("look", {"a": 2}))
    world = a_world(sqlite_store, clock, *looks, done(n=1), looks=[{"minutes": 9000}, {"minutes": 9}])

    await world.run(world.order(THINK))

    assert ["__suspicious" in told for told in results(world)] == [True, False, False]


async def test_a_rule_that_cannot_be_judged_is_one_that_does_not_hold(sqlite_store: SqlStore, clock: HandClock) -> None:
    looks = [{"minutes": "many"}, {"hours": 2}]
    world = a_world(sqlite_store, clock, calls(("look", {}), ("look", {"a": 1})), done(n=1), looks=looks)

    await world.run(world.order(THINK))

    assert [told["__suspicious"] for told in results(world)] == [["That is hours."]] * 2


async def test_what_was_odd_stands_in_the_ledger_and_is_told_again_after_a_stop(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    ask = calls(("step_control", {"say": "need_input", "question": "Really?"}))
    world = a_world(sqlite_store, clock, calls(("look", {})), ask, done(n=1), looks=[{"minutes": 9000}])
    order = world.order(THINK)
    report = await world.run(order)
    await world.answer(report.waiting_for[0], "yes")

    assert (await world.run(order)).state is OrderState.DONE
    assert results(world)[0]["__suspicious"] == ["That is hours."]


async def test_an_odd_output_is_told_to_the_model_which_may_mend_it(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, done(n=1000), done(n=10))

    report = await world.run(world.order({**THINK, "plausible": [FEW]}))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 10})
    assert "More than there are flights." in str(results(world)[0])


async def test_a_person_judges_an_odd_output_that_the_model_stands_by(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, done(n=1000), done(n=1000))
    order = world.order({**THINK, "plausible": [FEW]})

    report = await world.run(order)
    assert report.state is OrderState.WAITING
    await world.answer(report.waiting_for[0], "keep")

    assert (await world.run(order)).output == {"n": 1000}


async def test_being_told_of_an_odd_output_takes_no_correction(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, done(n=1000), done(n="x"), done(n="y"), done(n=3))

    report = await world.run(world.order({**THINK, "plausible": [FEW]}))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})
