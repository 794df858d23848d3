"""Answers that are none: each is told to the model for what it is, and ends in an outcome of its own."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger.store import SqlStore
from runtime.model.port import Ending, ModelAnswer
from tests.fakes.clock import HandClock
from tests.fakes.model import ScriptedModel, calls, done, says
from tests.runtime.engine.react.talking import THINK, a_world

pytestmark = pytest.mark.anyio

CODES = {
    Ending.LENGTH: "ANSWER_CUT",
    Ending.FILTERED: "ANSWER_FILTERED",
    Ending.REFUSED: "MODEL_DECLINED",
    Ending.REASONING_ONLY: "NOTHING_USABLE",
    Ending.EMPTY: "NOTHING_USABLE",
}


@pytest.mark.parametrize("ending", CODES)
async def test_the_model_is_told_twice_then_the_step_fails_by_name(
    sqlite_store: SqlStore, clock: HandClock, ending: Ending
) -> None:
    world = a_world(sqlite_store, clock)
    world.model = ScriptedModel(*[ModelAnswer("half an", ending=ending)] * 3)
    report = await world.run(world.order(THINK))
    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert report.error.code == CODES[ending]


@pytest.mark.parametrize("ending", CODES)
async def test_a_better_answer_is_taken(sqlite_store: SqlStore, clock: HandClock, ending: Ending) -> None:
    world = a_world(sqlite_store, clock)
    world.model = ScriptedModel(ModelAnswer("", ending=ending), done(n=1))
    report = await world.run(world.order(THINK))
    assert report.output == {"n": 1}


async def test_after_an_answer_that_was_cut_there_is_room_for_more(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    cut = ModelAnswer('{"n":', ending=Ending.LENGTH)
    model = world.model = ScriptedModel(cut, cut, done(n=1))
    await world.run(world.order(THINK))
    assert [request.times for request in model.requests] == [1, 2, 3]


async def test_words_of_an_answer_that_was_cut_are_no_output(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    whole_by_chance = ModelAnswer('{"n": 1}', ending=Ending.LENGTH)
    world.model = ScriptedModel(whole_by_chance, says({"n": 12}))
    assert (await world.run(world.order(THINK))).output == {"n": 12}


async def test_what_says_nothing_never_stands_in_a_request(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock)
    model = world.model = ScriptedModel(ModelAnswer("", ending=Ending.EMPTY), done(n=1))
    await world.run(world.order(THINK))
    assert all(message["content"] or message.get("tool_calls") for message in model.requests[-1].messages)


async def test_a_tool_that_has_to_be_called_is_asked_for_once_the_model_went_without_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock)
    step: dict[str, Any] = {**THINK, "must_call": ["look"]}
    model = world.model = ScriptedModel(done(n=1), calls(("look", {"at": "gate"})), done(n=2))
    report = await world.run(world.order(step))
    assert report.output == {"n": 2}
    assert [request.must_call for request in model.requests] == ["", "look", ""]
