from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Action, CardId, Effect, OrderState, PlanDefinition
from runtime.capabilities.port import CallResult, Waiting
from runtime.errors import BusinessRefusal
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World, one_after_the_other

pytestmark = pytest.mark.anyio
DELEGATED = {"id": "ask", "by": "analyst", "use": "query", "with": {"day": "{{ context.day }}"}}


def querying(*answers: Any) -> Tool:
    return Tool("query", one_after_the_other(*answers) if answers else lambda a, c: {"day": a["day"]})


async def test_another_employee_gets_an_order_and_its_output_comes_back(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, querying())
    order = world.order(DELEGATED, context={"day": "2013-02-08"})

    report = await world.run(order)

    assert world.staff is not None
    (child,) = world.staff.orders
    assert (child.employee, report.output) == ("analyst", {"day": "2013-02-08"})
    assert report.usage.steps == 1
    assert await world.kinds(order) == ["order.accepted", "step.dispatched", "step.finished", "order.finished"]


@pytest.mark.parametrize("inline_output", [100, 100_000])
async def test_after_a_crash_the_same_order_goes_on(
    sqlite_store: SqlStore, clock: HandClock, inline_output: int
) -> None:
    tool = querying(Crash(), {"n": 1})
    tool._act = _raising(tool._act)
    world = World(sqlite_store, clock, tool, inline_output=inline_output)
    order = world.order(DELEGATED, context={"day": "2013-02-08"})
    with pytest.raises(Crash):
        await world.run(order)

    report = await world.run(order)

    assert report.state is OrderState.DONE
    assert len(await sqlite_store.ledger.streams("order")) == 2
    assert world.staff is not None and world.staff.orders == []


def _raising(act: Any) -> Any:
    def call(arguments: object, context: object) -> object:
        given = act(arguments, context)
        if isinstance(given, Crash):
            raise given
        return given

    return call


async def test_a_pause_deep_in_the_tree_leaves_finished_work_alone_at_every_depth(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D3: head → manager → worker; the worker's third step waits; nothing before it runs again."""
    world = World(sqlite_store, clock, Tool("work", lambda a, c: {}))
    steps = [{"id": "w1", "use": "work"}, {"id": "w2", "use": "work", "after": ["w1"]}]
    worker = [*steps, {"id": "w3", "ask": {"text": "Go on?"}, "after": ["w2"]}]
    manager = [{"id": "m1", "use": "work"}, {"id": "m2", "by": "worker", "skill": "deep", "after": ["m1"]}]
    world.skills |= {
        "deep": PlanDefinition.model_validate({"steps": worker}),
        "middle": PlanDefinition.model_validate({"steps": manager}),
    }
    order = world.order({"id": "h1", "use": "work"}, {"id": "h2", "by": "manager", "skill": "middle", "after": ["h1"]})
    waiting = await world.run(order)
    await world.answer(waiting.waiting_for[0], "yes")

    report = await world.run(order)

    assert (waiting.state, report.state, report.output) == (OrderState.WAITING, OrderState.DONE, {"answer": "yes"})
    assert len(world.tools["work"].calls) == 4
    assert len(await sqlite_store.ledger.streams("order")) == 3


async def test_a_failed_order_brings_its_own_reason_up_and_the_other_way_is_tried(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, querying(BusinessRefusal("closed")), Tool("other", lambda a, c: {"n": 2}))
    step = {**DELEGATED, "with": {}, "otherwise": {"by": "reader", "use": "other", "with": {}}}
    order = world.order(step)

    report = await world.run(order)
    view = await world.view(order)

    assert report.output == {"n": 2}
    assert view.unit("ask").failures[0].message == "closed"
    assert len(view.children) == 2


async def test_an_order_below_that_changed_the_world_is_not_done_over(sqlite_store: SqlStore, clock: HandClock) -> None:
    pay = Tool("pay", lambda a, c: {"paid": 1}, Effect.WRITE)
    world = World(sqlite_store, clock, pay)
    step = {"id": "pay", "by": "clerk", "use": "pay", "accept": ["paid == 2"], "otherwise": {"use": "pay", "with": {}}}

    report = await world.run(world.order(step))

    assert (report.state, len(pay.calls)) == (OrderState.FAILED, 1)


async def test_an_order_below_that_failed_after_an_effect_is_not_done_another_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    pay, bad = Tool("pay", lambda a, c: {}, Effect.WRITE), Tool("bad", lambda a, c: BusinessRefusal("no"))
    world = World(sqlite_store, clock, pay, bad)
    steps = [{"id": "pay", "use": "pay"}, {"id": "bad", "use": "bad", "after": ["pay"]}]
    inner = [{"id": "on", "by": "clerk", "skill": "both"}]
    world.skills |= {
        "both": PlanDefinition.model_validate({"steps": steps}),
        "outer": PlanDefinition.model_validate({"steps": inner}),
    }
    step = {"id": "a", "by": "boss", "skill": "outer", "otherwise": {"by": "clerk", "skill": "both"}}

    report = await world.run(world.order(step))

    assert (report.state, len(pay.calls)) == (OrderState.FAILED, 1)


async def test_what_is_handed_down_becomes_context_of_the_order(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, querying({"rows": [{"carrier": "EV"}]}))
    step = {"id": "b", "by": "analyst", "use": "query", "inherit": ["{{ a.rows[0].carrier }}", "{{ a }}"]}
    order = world.order({"id": "a", "use": "query"}, step, context={"day": "x"})

    await world.run(order)

    handed = world.tools["query"].contexts[1].order.context
    assert (handed["day"], handed["carrier"], handed["a"]) == ("x", "EV", {"rows": [{"carrier": "EV"}]})


async def test_an_order_out_of_time_is_stopped_and_not_begun_anew_when_it_may_have_changed_something(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async def hang(arguments: object, context: object) -> None:
        await asyncio.Event().wait()

    pay = Tool("pay", hang, Effect.WRITE)
    world = World(sqlite_store, clock, pay, querying({}))
    step = {"id": "a", "by": "clerk", "use": "pay", "timeout_s": 1.5, "retries": 2, "otherwise": {"use": "query"}}

    report = await world.run(world.order(step))

    assert report.error is not None and report.error.code == "CAPABILITY_TIMEOUT"
    assert (len(pay.calls), world.tools["query"].calls) == (1, [])


async def test_a_failed_order_below_goes_on_when_the_one_above_is_opened_again(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    work, flaky = Tool("work", lambda a, c: {}), querying(RuntimeError("bug"), {"n": 1})
    world = World(sqlite_store, clock, work, flaky)
    steps = [{"id": "w", "use": "work"}, {"id": "q", "use": "query", "after": ["w"]}]
    world.skills["two"] = PlanDefinition.model_validate({"steps": steps})
    order = world.order({"id": "a", "by": "clerk", "skill": "two"})
    failed = await world.run(order)
    world.reopen = True

    report = await world.run(order)

    assert (failed.state, report.state, report.output) == (OrderState.FAILED, OrderState.DONE, {"n": 1})
    assert len(work.calls) == 1
    assert len(await sqlite_store.ledger.streams("order")) == 2


async def test_calls_made_below_count_for_must_call(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, querying({}))

    report = await world.run(world.order({"id": "a", "by": "analyst", "use": "query", "must_call": ["query"]}))

    assert report.state is OrderState.DONE


async def test_the_query_behind_a_number_is_known_above(sqlite_store: SqlStore, clock: HandClock) -> None:
    result = CallResult(output={"n": 1}, query_sha256="a" * 64, data_sha256="b" * 64)
    world = World(sqlite_store, clock, querying(result), Tool("use", lambda a, c: {}))
    order = world.order(
        {"id": "ask", "by": "analyst", "use": "query"}, {"id": "use", "use": "use", "with": {"n": "{{ ask.n }}"}}
    )

    await world.run(order)

    origin = world.tools["use"].contexts[0].origins["n"]
    assert (origin.step, origin.path) == ("head/ask", "n")
    assert (origin.query_sha256, origin.data_sha256) == ("a" * 64, "b" * 64)


async def test_an_approved_action_is_carried_out_as_it_was_shown_under_its_card(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    card = CardId.new()
    action = Action(
        by="notifier",
        use="waive",
        arguments={"text": "up to {{ 10 }}"},
        effect=Effect.WRITE,
        capability_sha256="c" * 64,
    )
    advice = {"outcome": "approved", "actions": [action.to_json()], "card": str(card)}
    waive = Tool("waive", lambda a, c: {}, Effect.WRITE)
    world = World(sqlite_store, clock, Tool("advise", lambda a, c: advice), waive)
    order = world.order(
        {"id": "choose", "use": "advise"},
        {
            "id": "act",
            "when": "choose.outcome == 'approved'",
            "for_each": "{{ choose.actions }}",
            "order": "{{ item }}",
        },
    )

    report = await world.run(order)

    assert report.state is OrderState.DONE
    assert waive.calls == [{"text": "up to {{ 10 }}"}]
    assert (waive.contexts[0].order.authority, waive.contexts[0].order.employee) == (card, "notifier")


async def test_an_action_without_a_card_is_not_carried_out(sqlite_store: SqlStore, clock: HandClock) -> None:
    advice = {"action": {"by": "x", "use": "waive", "with": {}, "effect": "write", "capability_sha256": "c" * 64}}
    world = World(sqlite_store, clock, Tool("advise", lambda a, c: advice), Tool("waive", lambda a, c: {}))
    order = world.order({"id": "choose", "use": "advise"}, {"id": "act", "order": "{{ choose.action }}"})

    report = await world.run(order)

    assert report.error is not None and "names no card" in report.error.message
    assert world.tools["waive"].calls == []


async def test_a_capability_that_waits_is_called_again_with_what_it_raised(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    card = CardId.new()
    world = World(sqlite_store, clock, querying(Waiting((card,)), {"option": "waive"}))
    order = world.order({"id": "choose", "use": "query"})

    waiting = await world.run(order)
    report = await world.run(order)

    assert (waiting.waiting_for, report.output) == ((card,), {"option": "waive"})
    assert world.tools["query"].contexts[1].pending == (card,)


async def test_a_child_at_its_limit_makes_the_parent_partial(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, querying({}))
    steps = [{"id": "loop", "use": "query", "until": {"check": "false", "most": 2}}]
    world.skills["loop"] = PlanDefinition.model_validate({"steps": steps})

    report = await world.run(world.order({"id": "a", "by": "analyst", "skill": "loop"}))

    assert report.state is OrderState.PARTIAL
    assert report.error is not None and report.error.code == "REPETITION_LIMIT"


async def test_the_order_is_recorded_before_it_begins(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(CrashingStore(sqlite_store, at=0, committed=True), clock, querying({}))
    with pytest.raises(Crash):
        await world.run(world.order({"id": "a", "by": "analyst", "use": "query"}))

    assert world.tools["query"].calls == []
    assert len(await sqlite_store.ledger.streams("order")) == 1
