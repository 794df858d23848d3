"""Models that do what they should not, over the real client and HTTP: each ends in an outcome that is explained."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from contracts import OrderState, Parameter, StatusReport, ValueType
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import calls, control, done, says
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.script import calls_as_written
from tests.fakes.openai_server.server import OpenAIServer
from tests.runtime.engine.react.over_http import asking

__all__ = ["openai_server"]
pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {
    "id": "think",
    "react": "How many rows are late?",
    "tools": ["look"],
    "gives": {"n": "integer"},
}
LOOK_AT = {"at": Parameter(type=ValueType.STRING)}


class Look(Tool):
    """Takes one argument, and no other."""

    def __init__(self) -> None:
        super().__init__("look", lambda a, c: {"late": 3})
        fields = {name: getattr(self.spec, name) for name in self.spec.__dataclass_fields__}
        self.spec = type(self.spec)(**{**fields, "parameters": LOOK_AT, "open_arguments": False})


@pytest.fixture
async def world(sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer) -> AsyncIterator[World]:
    """An engine whose model is behind HTTP, at an endpoint that keeps the protocol."""
    async with asking(sqlite_store, clock, openai_server.base_url, Look()) as made:
        yield made


def outcome(report: StatusReport) -> tuple[OrderState, str]:
    assert report.error is not None and len(report.error.message) > 20, "an outcome is explained"
    return report.state, report.error.code


async def test_one_that_always_answers_directly_fails_for_the_form(world: World, openai_server: OpenAIServer) -> None:
    openai_server.otherwise = says("There are many late rows, as everybody knows.")

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "OUTPUT_FAULTY")
    assert openai_server.count() == 3 and world.tools["look"].calls == []


async def test_one_that_answers_directly_where_a_call_is_required_is_not_done(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = says({"n": 7})

    report = await world.run(world.order({**THINK, "must_call": ["look"]}))

    assert report.state is OrderState.FAILED and report.error is not None
    assert "never called look" in report.error.message
    assert openai_server.chats[1].json["tool_choice"]["function"]["name"] == "look"


async def test_one_that_always_calls_the_same_tool_is_stopped_in_its_ring(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = calls(("look", {"at": "JFK"}))

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "CALL_REPEATED")
    assert len(world.tools["look"].calls) == 2


async def test_one_that_calls_a_tool_for_ever_with_new_arguments_reaches_a_limit_with_what_was_done(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = lambda asked: calls(("look", {"at": str(asked.number)}))

    report = await world.run(world.order({**THINK, "iterations": 5}))

    assert outcome(report) == (OrderState.PARTIAL, "ITERATION_LIMIT")
    assert len(world.tools["look"].calls) == 5


async def test_one_that_calls_unknown_tools_is_told_which_there_are_and_then_stopped(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = calls(("lookup_flights", {"at": "JFK"}))

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "INVALID_ARGUMENTS")
    assert "There is: look" in str(openai_server.chats[1].messages[-1]["content"])


async def test_one_that_invents_parameters_is_told_and_then_stopped_and_nothing_is_called(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = lambda asked: calls(("look", {"at": "JFK", "sort_by": f"delay {asked.number}"}))

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "INVALID_ARGUMENTS")
    assert world.tools["look"].calls == [] and openai_server.count() == 3
    assert "sort_by" in str(openai_server.chats[1].messages[-1]["content"])


async def test_one_that_mends_invented_parameters_goes_on(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(calls(("look", {"airport": "JFK"})), calls(("look", {"at": "JFK"})), done(n=3))

    report = await world.run(world.order(THINK))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})


async def test_one_whose_arguments_are_broken_json_never_gets_a_call_made(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = calls_as_written(("look", '{"at": "JF'))

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "INVALID_ARGUMENTS")
    assert world.tools["look"].calls == []


async def test_one_that_answers_in_another_language_is_read_all_the_same(
    world: World, openai_server: OpenAIServer
) -> None:
    order = world.order({"id": "think", "react": "How many?", "tools": ["look"]})
    openai_server.plays(says("延误的航班有三班。"))

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"text": "延误的航班有三班。"})


async def test_one_that_answers_in_another_language_where_an_object_is_due_is_corrected(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.plays(says("一共三班。"), says('```json\n{"n": 3}\n```'))

    report = await world.run(world.order(THINK))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})
    assert "must be a JSON object" in str(openai_server.chats[1].messages[-1]["content"])


@pytest.mark.parametrize(
    "nothing", [control("done"), done(), done(n=None)], ids=["no output", "an empty one", "null in it"]
)
async def test_one_that_says_done_with_nothing_is_not_done(
    world: World, openai_server: OpenAIServer, nothing: Any
) -> None:
    openai_server.otherwise = nothing

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.FAILED and report.error is not None
    assert report.error.code in ("OUTPUT_FAULTY", "INVALID_ARGUMENTS") and openai_server.count() == 3


async def test_one_that_says_done_with_nothing_where_nothing_is_declared_is_not_done_either(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.plays(control("done"), calls(("look", {"at": "JFK"})), control("done"))

    report = await world.run(world.order({"id": "think", "react": "Look.", "tools": ["look"]}))

    assert report.state is OrderState.DONE and len(world.tools["look"].calls) == 1
    assert "cannot be done with nothing" in str(openai_server.chats[1].messages[-1]["content"])


async def test_one_that_says_nothing_at_all_is_told_and_then_stopped(world: World, openai_server: OpenAIServer) -> None:
    openai_server.otherwise = says("")

    report = await world.run(world.order(THINK))

    assert outcome(report) == (OrderState.FAILED, "NOTHING_USABLE")


async def test_one_that_refers_to_data_it_was_never_shown_is_told_and_calls_nothing(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.plays(calls(("look", {"at": {"__ref": "0" * 64}})), done(n=3))

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE and world.tools["look"].calls == []
    assert "Nothing was shown in this step" in str(openai_server.chats[1].messages[-1]["content"])


async def test_every_such_end_is_in_the_ledger_with_each_answer_that_led_to_it(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = says("Many.")
    order = world.order(THINK)

    await world.run(order)

    assert await world.kinds(order) == [
        "order.accepted", *["model.answered", "answer.refused"] * 2, "model.answered", "step.failed", "order.finished",
    ]  # fmt: skip
