"""Skills as tools of a model: a call becomes an order below, and everything about orders holds for it."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from contracts import OrderState, QuestionId
from runtime.capabilities.port import CallContext, Waiting
from runtime.draining import Draining, Steps
from runtime.errors import BusinessRefusal, NetworkFault, PermissionRefused
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import with_store
from tests.fakes.model import calls, control, done
from tests.runtime.engine.react.skilled import THINK, a_plan, a_world, counting, paying, played, told

pytestmark = pytest.mark.anyio


async def test_a_call_of_a_skill_is_an_order_whose_output_the_model_sees(store: SqlStore, clock: HandClock) -> None:
    world = a_world(store, clock, counting("gate"), done(n=3))
    order = world.order(THINK)

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})
    assert '"rows":3' in told(world)[0]
    assert await world.kinds(order) == [
        "order.accepted", "model.answered", "step.dispatched", "call.finished", "model.answered", "step.finished",
        "order.finished",
    ]  # fmt: skip
    assert world.tools["look"].calls == [{"at": "gate"}]
    assert report.usage.steps == 2


async def test_a_value_of_the_model_that_looks_like_a_binding_is_text(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, counting("{{ context }}"), done(n=3))

    await world.run(world.order(THINK))

    assert world.tools["look"].calls == [{"at": "{{ context }}"}]


async def test_an_argument_of_the_step_is_bound_and_the_model_does_not_see_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("count", {})), done(n=3))

    await world.run(world.order({**THINK, "with": {"at": "{{ known_at }}"}}))

    shown = {tool["function"]["name"]: tool["function"]["parameters"] for tool in played(world).requests[0].tools}
    assert shown["count"]["properties"] == {}
    assert world.tools["look"].calls == [{"at": clock.now().isoformat().replace("+00:00", "Z")}]


async def test_skills_of_one_answer_are_done_side_by_side(sqlite_store: SqlStore, clock: HandClock) -> None:
    both = asyncio.Barrier(2)

    async def look(arguments: Any, context: CallContext) -> Any:
        await asyncio.wait_for(both.wait(), 60)
        return {"rows": arguments["at"]}

    world = a_world(sqlite_store, clock, counting(1, 2), done(n=3), look=look)

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert ['"rows":1' in told(world)[0], '"rows":2' in told(world)[1]] == [True, True]


async def test_why_a_skill_was_not_done_is_told_and_another_is_tried(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(
        sqlite_store, clock, counting("gate"), paying("ann"), done(n=1),
        look=lambda a, c: BusinessRefusal("Nobody counts at night."),
    )  # fmt: skip

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE
    assert "Nobody counts at night." in told(world)[0] and '"paid":"ann"' in told(world)[1]


async def test_an_order_tries_passing_faults_itself_and_is_not_given_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), done(n=1), look=lambda a, c: NetworkFault("down"))
    order = world.order(THINK)

    await world.run(order)

    assert len(world.tools["look"].calls) == 1 + world.settings.network_retries
    assert (await world.kinds(order)).count("step.dispatched") == 1
    assert "down" in told(world)[0]


async def test_a_skill_that_waits_for_people_keeps_its_answer_and_the_others_of_the_answer_are_done(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    asked = QuestionId.new()

    def look(arguments: Any, context: CallContext) -> Any:
        if arguments["at"] == "gate" and not context.pending:
            return Waiting((asked,))
        return {"rows": 3}

    world = a_world(sqlite_store, clock, counting("gate", "door"), done(n=3), look=look)
    order = world.order(THINK)
    waiting = await world.run(order)

    report = await world.run(order)

    assert (waiting.state, waiting.waiting_for) == (OrderState.WAITING, (asked,))
    assert report.state is OrderState.DONE and played(world).asked == {0: 1, 1: 1}
    assert sorted(each["at"] for each in world.tools["look"].calls) == ["door", "gate", "gate"]


async def test_an_effect_of_a_skill_waits_at_the_gate_of_its_own_order(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """A6: a skill is no way around the gate."""
    world = a_world(sqlite_store, clock, paying("ann"), done(n=1))
    world.gate.ask = True
    order = world.order(THINK)
    card = (await world.run(order)).waiting_for[0]
    assert world.tools["pay"].calls == []
    world.gate.decide(card, False)  # type: ignore[arg-type]

    report = await world.run(order)

    assert report.state is OrderState.DONE and world.tools["pay"].calls == []
    assert "DENIED" in told(world)[0]


async def test_what_a_skill_did_to_the_world_is_not_done_again_when_the_model_sends_it_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D8: "send payment" twice in one answer and again in the next."""
    world = a_world(sqlite_store, clock, paying("ann", "ann"), paying("ann"), done(n=1))

    report = await world.run(world.order(THINK))

    assert report.state is OrderState.DONE and world.tools["pay"].calls == [{"to": "ann"}]
    assert ["__not_repeated" in each for each in told(world)] == [False, True, True]


async def test_what_a_skill_gave_is_told_in_its_own_words_where_they_are_few(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), counting("gate"), done(n=3), look=lambda a, c: {"rows": 3})
    engine = world.engine()
    assert world.staff is not None
    world.staff.telling = lambda output: f"There are {output['rows']} rows."  # type: ignore[call-overload, index]

    await engine.run(world.order(THINK))

    assert told(world) == ["There are 3 rows.\n\nAnswer from this result."] * 2


async def test_words_of_a_skill_that_are_too_many_give_way_to_its_data(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), done(n=3), inline_output=100)
    engine = world.engine()
    assert world.staff is not None
    world.staff.telling = lambda output: "row " * 100

    await engine.run(world.order(THINK))

    assert '"rows":3' in told(world)[0]


async def test_a_skill_must_be_called_where_the_plan_says_so(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, done(n=1), counting("gate"), done(n=3))

    report = await world.run(world.order({**THINK, "must_call": ["count"]}))

    assert report.output == {"n": 3}
    assert played(world).requests[1].must_call == "count"


async def test_of_all_skills_those_that_fit_are_chosen_once_and_stay(sqlite_store: SqlStore, clock: HandClock) -> None:
    asked = QuestionId.new()
    world = a_world(
        sqlite_store, clock, counting("gate"), done(n=3),
        look=lambda a, c: {"rows": 3} if c.pending else Waiting((asked,)),
    )  # fmt: skip
    order = world.order({**THINK, "react": "Now count.", "skills": "all"})
    await world.run(order)
    world.skills["now"] = a_plan({"id": "see", "use": "look"})

    report = await world.run(order)

    assert report.state is OrderState.DONE
    shown = [[tool["function"]["name"] for tool in request.tools] for request in played(world).requests]
    assert shown == [["count", "step_control"]] * 2
    assert (await world.kinds(order)).count("tools.offered") == 1


async def test_a_skill_that_may_not_be_given_is_told_as_that(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = a_world(sqlite_store, clock, counting("gate"), control("blocked", reason="not allowed"))
    engine = world.engine()
    assert world.staff is not None
    world.staff.refusal = PermissionRefused("Neither head nor anybody below has the skill count.")

    report = await engine.run(world.order(THINK))

    assert report.error is not None and report.error.code == "STEP_BLOCKED"
    assert "Neither head nor anybody below" in told(world)[0]


@pytest.mark.parametrize("committed", [True, False], ids=["after the commit", "before the commit"])
async def test_nothing_is_asked_or_done_twice_wherever_the_process_dies(
    sqlite_store: SqlStore, clock: HandClock, committed: bool
) -> None:
    for at in count():
        world = a_world(sqlite_store, clock, paying("ann", "bob"), counting("gate"), done(n=3))
        order = world.order(THINK)
        try:
            await with_store(world, CrashingStore(sqlite_store, at, committed=committed)).run(order)
        except Crash:
            report = await with_store(world, sqlite_store).run(order)
        else:
            break  # it writes no more often than that

        assert report.state is OrderState.DONE, (at, report.error)
        assert set(world.tools["pay"].keys.values()) == {1} and len(world.tools["pay"].keys) == 2, at
        assert (await world.kinds(order)).count("step.dispatched") == 3, at
    assert at > 10


async def test_a_process_that_is_to_end_does_not_wait_for_a_step_whose_calls_others_do(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    draining, begun = Draining(), asyncio.Event()

    async def look(arguments: Any, context: CallContext) -> Any:
        begun.set()
        draining.begin()
        return {"rows": 3}

    world = a_world(sqlite_store, clock, counting("gate"), done(n=3), look=look)
    world.skills["count"] = a_plan(
        {"id": "see", "use": "look"}, {"id": "again", "use": "look", "after": ["see"]}, at="any"
    )
    world.steps = Steps(draining)
    running = asyncio.ensure_future(world.run(world.order(THINK)))
    async with asyncio.timeout(60):
        await begun.wait()
        while not world.steps.parked:
            draining.changed.clear()
            await draining.changed.wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(world.tools["look"].calls) == 1 and not world.steps.busy


async def test_effects_of_skills_are_taken_back_the_last_one_first(sqlite_store: SqlStore, clock: HandClock) -> None:
    hanging = asyncio.Event()

    async def look(arguments: Any, context: CallContext) -> Any:
        hanging.set()
        await asyncio.Event().wait()

    world = a_world(sqlite_store, clock, paying("ann"), paying("bob"), counting("gate"), look=look)
    running = asyncio.ensure_future(world.run(world.order(THINK)))
    await asyncio.wait_for(hanging.wait(), 60)
    world.cancelled = True

    report = await asyncio.wait_for(running, 60)

    assert report.state is OrderState.CANCELLED
    assert [each["to"] for each in world.tools["take-back"].calls] == ["bob", "ann"]
