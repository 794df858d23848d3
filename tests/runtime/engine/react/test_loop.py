from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Json, OrderState, Parameter, ValueType
from runtime.capabilities.port import CallResult
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from runtime.model.port import ModelAnswer, ToolCall
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, one_after_the_other
from tests.fakes.model import calls, control, done, says
from tests.runtime.engine.react.looking import THINK, a_world, model_of

pytestmark = pytest.mark.anyio


async def test_the_model_calls_sees_and_ends_the_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {"at": "x"})), done(n=3))
    order = world.order(THINK)

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})
    assert '"rows":3' in model_of(world).told[0]["content"]
    assert report.usage.tokens_in == 20 and report.usage.steps == 1
    kinds = await world.kinds(order)
    assert kinds == [
        "order.accepted",
        "model.answered",
        "call.finished",
        "model.answered",
        "step.finished",
        "order.finished",
    ]


async def test_words_that_are_the_output_end_the_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, says('```json\n{"n": 4}\n```'))

    assert (await world.run(world.order(THINK))).output == {"n": 4}


async def test_words_are_the_output_of_a_step_without_fields(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, says("It rains."))

    assert (await world.run(world.order({"id": "think", "react": "Why?"}))).output == {"text": "It rains."}


async def test_ids_are_made_by_us_whatever_the_model_gives(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1}), ("look", {"at": 2})), done(n=2))
    order = world.order(THINK)
    await world.run(order)

    events = await sqlite_store.ledger.read(str(order.order_id))
    assert [event.data["call"] for event in events if event.type == "call.finished" and event.data] == [
        "think:-:1:1",
        "think:-:1:2",
    ]
    named = [call["id"] for call in model_of(world).requests[-1].messages[2]["tool_calls"]]
    answered = [message["tool_call_id"] for message in model_of(world).requests[-1].messages[3:]]
    assert named == answered and len(set(named)) == 2


async def test_output_that_does_not_fit_goes_back_with_the_fault_twice_at_most(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, says("four"), done(n="four"), done(n=4))

    report = await world.run(world.order(THINK))

    assert report.output == {"n": 4}
    first, second = (request.messages[-1]["content"] for request in model_of(world).requests[1:])
    assert "is no JSON" in first and "whole number" in second


async def test_a_third_output_that_does_not_fit_is_the_end(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, *[done(n="four")] * 3)

    report = await world.run(world.order(THINK))

    assert (report.state, len(model_of(world).requests)) == (OrderState.FAILED, 3)
    assert report.error is not None and report.error.code == "OUTPUT_FAULTY"


async def test_an_empty_answer_is_told_and_asked_again(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, ModelAnswer("  "), done(n=1))

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    messages = model_of(world).requests[1].messages
    assert "empty" in messages[-1]["content"]
    assert [message["role"] for message in messages] == ["system", "user", "user"]  # and is no part of the conversation


async def test_a_step_is_not_done_without_the_call_that_its_plan_requires(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, done(n=1), calls(("look", {})), done(n=3))

    report = await world.run(world.order({**THINK, "must_call": ["look"]}))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})
    assert "never called look" in model_of(world).requests[1].messages[-1]["content"]


async def test_an_acceptance_check_that_fails_is_told_to_the_model(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, done(n=1), done(n=9))

    assert (await world.run(world.order({**THINK, "accept": ["n > 5"]}))).output == {"n": 9}
    assert "n > 5" in model_of(world).requests[1].messages[-1]["content"]


async def test_done_is_not_taken_when_a_call_beside_it_failed(sqlite_store: SqlStore, clock: HandClock) -> None:
    both = ModelAnswer("", [*calls(("look", {})).calls, *done(n=1).calls])
    look = one_after_the_other(ValueError("broken"), {"rows": 1})
    world = a_world(sqlite_store, clock, both, calls(("look", {"again": 1})), done(n=1), look=look)

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert "cannot be done yet" in model_of(world).requests[1].messages[-1]["content"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (control("blocked", reason="no access"), "STEP_BLOCKED"),
        (control("replan", why="the table is gone"), "REPLAN_ASKED"),
    ],
)
async def test_a_model_that_cannot_go_on_says_so(
    sqlite_store: SqlStore, clock: HandClock, said: ModelAnswer, code: str
) -> None:
    world = a_world(sqlite_store, clock, said)

    report = await world.run(world.order(THINK))

    assert report.error is not None and (report.error.code, report.state) == (code, OrderState.FAILED)


async def test_the_other_way_is_taken_when_the_model_asks_for_another_plan(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, control("replan", why="the table is gone"), look=lambda a, c: {"n": 7})

    report = await world.run(world.order({**THINK, "otherwise": {"use": "look"}}))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 7})


async def test_a_tool_that_there_is_not_and_arguments_that_do_not_fit_go_back_twice_at_most(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    unreadable = ModelAnswer("", [ToolCall("x", "look", {}, fault="they end in the middle")])
    world = a_world(sqlite_store, clock, calls(("lock", {})), unreadable, calls(("look", {})), done(n=1))

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert "There is: look" in model_of(world).requests[1].messages[-1]["content"]
    assert "end in the middle" in model_of(world).requests[2].messages[-1]["content"]
    assert len(world.tools["look"].calls) == 1


async def test_a_third_call_that_cannot_be_made_ends_the_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, *(calls((f"lock{n}", {})) for n in range(3)))

    report = await world.run(world.order(THINK))

    assert report.error is not None and report.error.code == "INVALID_ARGUMENTS"
    assert len(model_of(world).requests) == 3


async def test_ten_answers_are_the_limit_and_what_was_done_goes_on_when_the_order_is_reopened(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, *(calls(("look", {"at": n})) for n in range(10)), done(n=10))
    order = world.order(THINK)
    partial = await world.run(order)
    world.reopen = True

    report = await world.run(order)

    assert partial.state is OrderState.PARTIAL and partial.error is not None
    assert partial.error.code == "ITERATION_LIMIT"
    assert (report.state, len(world.tools["look"].calls)) == (OrderState.DONE, 10)
    assert "not done after 10 answers" in model_of(world).requests[-1].messages[-1]["content"]


@pytest.mark.parametrize(("given", "asked"), [({}, 2), ({"iterations": 3}, 3)])
async def test_the_setting_says_how_many_answers_where_the_step_does_not(
    sqlite_store: SqlStore, clock: HandClock, given: dict[str, Any], asked: int
) -> None:
    world = a_world(sqlite_store, clock, *(calls(("look", {"at": n})) for n in range(5)), iterations=2)

    report = await world.run(world.order({**THINK, **given}))

    assert report.error is not None and (report.error.code, report.error.facts["most"]) == ("ITERATION_LIMIT", asked)
    assert len(model_of(world).requests) == asked


async def test_a_model_that_does_not_answer_is_stopped_where_the_step_names_no_time(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    class Silent:
        async def ask(self, request: object) -> ModelAnswer:
            await asyncio.Event().wait()
            raise AssertionError("it never answers")

    world = a_world(sqlite_store, clock, step_timeout_s=0.05)
    world.model = Silent()

    async with asyncio.timeout(20):
        report = await world.run(world.order(THINK))

    assert report.error is not None and report.error.code == "CAPABILITY_TIMEOUT"
    assert "took longer than 0.05 s" in report.error.message


async def test_a_plan_has_a_limit_of_answers_of_its_own(sqlite_store: SqlStore, clock: HandClock) -> None:
    steps = [{**THINK, "id": f"t{n}", "iterations": 100, "after": [f"t{n - 1}"] if n else []} for n in range(2)]
    world = a_world(sqlite_store, clock, *(calls(("look", {"at": n})) for n in range(60)))

    report = await world.run(world.order(*steps))

    assert report.error is not None and (report.error.code, report.error.facts["most"]) == ("ITERATION_LIMIT", 50)
    assert len(model_of(world).requests) == 50


async def test_the_same_call_three_times_in_a_row_is_stopped(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, *[calls(("look", {"at": 1}))] * 5)

    report = await world.run(world.order(THINK))

    assert report.error is not None and report.error.code == "CALL_REPEATED"
    assert len(world.tools["look"].calls) == 2


async def test_a_capability_whose_every_call_counts_may_be_asked_again_and_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, *[calls(("poll", {}))] * 4, done(n=1))
    world.tools["poll"] = Tool("poll", lambda a, c: {}, every_call=True)

    assert (await world.run(world.order({**THINK, "tools": ["poll"]}))).state is OrderState.DONE
    assert len(world.tools["poll"].calls) == 4


async def test_a_failed_call_is_a_value_for_the_model_and_hurts_no_other(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    def look(arguments: Any, context: Any) -> Any:
        return ValueError("broken") if arguments["at"] == 1 else {"rows": 2}

    world = a_world(sqlite_store, clock, calls(("look", {"at": 1}), ("look", {"at": 2})), done(n=2), look=look)

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    first, second = (message["content"] for message in model_of(world).requests[1].messages[-2:])
    assert '"__error"' in first and "ValueError" in first and second == '{"rows":2}'


async def test_a_passing_fault_of_a_call_is_tried_again_and_counted_in_the_ledger(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    look = one_after_the_other(NetworkFault("down"), NetworkFault("down"), {"rows": 1})
    world = a_world(sqlite_store, clock, calls(("look", {})), done(n=1), look=look)
    order = world.order(THINK)

    assert (await world.run(order)).state is OrderState.DONE
    assert (await world.kinds(order)).count("call.failed") == 2 and len(world.waits) == 2


async def test_a_model_that_cannot_be_reached_is_asked_again_and_then_given_up(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    down = NetworkFault("down")
    world = a_world(sqlite_store, clock, down, down, calls(("look", {})), down, down, down, down)
    order = world.order(THINK)

    report = await world.run(order)

    assert report.error is not None and report.error.code == "NETWORK_FAULT"
    assert (await world.kinds(order)).count("model.unreachable") == 6
    assert (await world.kinds(order)).count("step.failed") == 1


async def test_a_bound_argument_is_filled_by_code_and_not_shown(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, calls(("find", {"name": "x"})), done(n=1))
    tool = Tool("find", lambda a, c: {})
    parameters = {name: Parameter(type=ValueType.STRING) for name in ("name", "region")}
    tool.spec = type(tool.spec)(**{**_fields(tool.spec), "parameters": parameters, "open_arguments": False})
    world.tools["find"] = tool
    step = {**THINK, "tools": ["find"], "with": {"region": "{{ look.where }}", "hint": "{{ look.where }}"}}
    world.tools["look"] = Tool("look", lambda a, c: {"where": "north"})
    await world.run(world.order({"id": "look", "use": "look"}, step))

    request = model_of(world).requests[0]
    declared = next(tool["function"] for tool in request.tools if tool["function"]["name"] == "find")
    assert list(declared["parameters"]["properties"]) == ["name"]
    assert tool.calls == [{"name": "x", "region": "north"}]
    assert 'hint: "north"' in request.messages[1]["content"] and "region" not in request.messages[1]["content"]
    assert tool.contexts[0].origins["region"].step == "head/look"


def _fields(spec: Any) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in spec.__dataclass_fields__}


async def test_names_that_endpoints_do_not_take_are_replaced_and_ours_are_understood(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("desk_find", {"a": 1}), ("desk.find", {"a": 2})), done(n=1))
    world.tools["desk.find"] = Tool("desk.find", lambda a, c: {})

    assert (await world.run(world.order({**THINK, "tools": ["desk.find"]}))).state is OrderState.DONE
    assert len(world.tools["desk.find"].calls) == 2


async def test_a_long_result_is_kept_by_reference_and_shown_by_its_beginning(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D14: a result of many megabytes neither breaks the write nor fills the next request."""
    look = one_after_the_other(CallResult(output={"text": "x" * 5_000_000}))
    world = a_world(sqlite_store, clock, calls(("look", {})), done(n=1), look=look)
    order = world.order(THINK)

    assert (await world.run(order)).state is OrderState.DONE
    told = model_of(world).told[0]["content"]
    assert '"__stored":true' in told and len(told) < 3_000
    assert max(len(event.model_dump_json()) for event in await sqlite_store.ledger.read(str(order.order_id))) < 10_000


async def test_a_long_answer_is_kept_whole_and_its_arguments_reach_the_tool(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    text = "y" * 20_000
    world = a_world(sqlite_store, clock, calls(("look", {"text": text})), done(n=1))
    order = world.order(THINK)

    assert (await world.run(order)).state is OrderState.DONE
    assert world.tools["look"].calls == [{"text": text}]
    answered = (await sqlite_store.ledger.read(str(order.order_id)))[1].data
    assert answered is not None and text.encode() in await sqlite_store.blobs.get(answered["answer_sha256"])  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", float("nan"), 2**63, "航班 ✈"])
async def test_odd_values_of_model_and_tool_break_nothing(sqlite_store: SqlStore, clock: HandClock, odd: Any) -> None:
    """D16: whatever comes in is cleaned once, where it comes in."""
    world = a_world(sqlite_store, clock, calls(("look", {"v": odd}), content="\ud800\0"), done(n=1))

    assert (await world.run(world.order(THINK))).state is OrderState.DONE


@pytest.mark.parametrize("odd", [[1], "text", None])
async def test_arguments_that_are_no_object_go_back_to_the_model(
    sqlite_store: SqlStore, clock: HandClock, odd: Json
) -> None:
    world = a_world(sqlite_store, clock, ModelAnswer("", [ToolCall("x", "look", odd)]), done(n=1))  # type: ignore[arg-type]

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert "where an object was due" in model_of(world).requests[1].messages[-1]["content"]


async def test_words_are_the_output_of_a_step_that_gives_a_text(sqlite_store: SqlStore, clock: HandClock) -> None:
    step = {"id": "think", "react": "Why?", "gives": {"text": "string"}}
    for said, text in (("It rains.", "It rains."), ("[1, 2]", "[1, 2]"), ({"text": "Snow."}, "Snow.")):
        world = a_world(sqlite_store, clock, says(said))  # type: ignore[arg-type]

        assert (await world.run(world.order(step))).output == {"text": text}
