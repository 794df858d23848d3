from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Budget, Effect, ErrorCategory, OrderState, Problem, Step
from runtime.capabilities.port import CallContext, CallResult
from runtime.engine.retry import Next, backoff, decide
from runtime.engine.view import Unit
from runtime.errors import BusinessRefusal, InvalidArguments, NetworkFault, PermissionRefused
from runtime.ledger.store import SqlStore
from runtime.settings.groups import EngineSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World, one_after_the_other

SETTINGS = EngineSettings()
STEP = Step(id="a", use="b")


@pytest.mark.parametrize(
    ("category", "retries"),
    [("network", 3), ("invalid_arguments", 0), ("permission", 0), ("business", 0), ("unknown", 0)],
)
def test_each_category_is_tried_again_as_often_as_its_rule_says(category: str, retries: int) -> None:
    unit, problem = Unit("a", None), Problem(code="X", category=ErrorCategory(category), message="")
    tries = 0
    while (
        decide(problem, step=STEP, unit=unit, settings=SETTINGS, plan_revisions=0, delegated=False).next is Next.RETRY
    ):
        unit.failures.append(problem)
        tries += 1

    assert tries == retries


@given(st.integers(0, 20))
def test_the_wait_doubles_with_jitter_up_to_its_bound(tried: int) -> None:
    wait = backoff(tried, Problem(code="X", message=""), SETTINGS)
    whole = min(SETTINGS.backoff_first_s * 2**tried, SETTINGS.backoff_most_s)

    assert whole / 2 <= wait <= whole


@pytest.mark.anyio
async def test_a_passing_fault_is_tried_again_with_the_error_handed_on(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    tool = Tool("net", one_after_the_other(NetworkFault("reset"), NetworkFault("busy", retry_after_s=25), {"ok": 1}))
    world = World(sqlite_store, clock, tool)
    order = world.order({"id": "a", "use": "net"})

    report = await world.run(order)

    assert report.output == {"ok": 1}
    assert [context.previous_error for context in tool.contexts] == [None, "reset", "busy"]
    assert [context.attempt for context in tool.contexts] == [1, 2, 3]
    assert world.waits[0] <= 0.5 and world.waits[1] == 25
    assert (await world.kinds(order)).count("step.failed") == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked_s", "facts"),
    [
        (99_999, {}),
        (20, {"deadline": HandClock().now() + timedelta(seconds=10)}),
        (20, {"budget": Budget(seconds=10)}),
    ],
)
async def test_a_service_that_asks_for_longer_than_there_is_time_ends_the_step_with_the_moment_it_names(
    sqlite_store: SqlStore, clock: HandClock, asked_s: int, facts: dict[str, Any]
) -> None:
    tool = Tool("net", one_after_the_other(NetworkFault("busy", retry_after_s=asked_s), {"ok": 1}))
    world = World(sqlite_store, clock, tool)
    order = world.order({"id": "a", "use": "net"}, **facts)

    failed = await world.run(order)
    world.reopen = True
    resumed = await world.run(order)

    assert failed.error is not None
    assert (failed.state, failed.error.category, world.waits) == (OrderState.FAILED, ErrorCategory.NETWORK, [])
    assert failed.error.facts["next_try_at"] == (clock.now() + timedelta(seconds=asked_s)).isoformat()
    assert f"{clock.now() + timedelta(seconds=asked_s):%Y-%m-%d %H:%M:%S} UTC" in failed.error.message
    assert resumed.output == {"ok": 1}


@pytest.mark.anyio
async def test_a_look_up_that_is_told_to_wait_for_long_leaves_the_effect_to_a_person(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    class Busy(Tool):
        async def lookup(self, key: str, context: CallContext) -> CallResult | None:
            raise NetworkFault("busy", retry_after_s=99_999, happened="no")

    tool = Busy("pay", lambda a, c: NetworkFault("reset"), Effect.WRITE, can_look_up=True)
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order({"id": "a", "use": "pay"}))

    assert (report.state, len(tool.calls), world.waits) == (OrderState.WAITING, 1, [])


@pytest.mark.anyio
async def test_retries_used_up_in_one_run_are_used_up_in_the_next(sqlite_store: SqlStore, clock: HandClock) -> None:
    tool = Tool("net", lambda a, c: NetworkFault("reset"))
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order({"id": "a", "use": "net"}))

    assert (report.state, len(tool.calls)) == (OrderState.FAILED, 4)


@pytest.mark.anyio
@pytest.mark.parametrize("error", [InvalidArguments("no"), PermissionRefused("no"), RuntimeError("no")])
async def test_what_no_retry_mends_is_called_once(sqlite_store: SqlStore, clock: HandClock, error: Exception) -> None:
    tool = Tool("bad", lambda a, c: error)
    world = World(sqlite_store, clock, tool)

    assert (await world.run(world.order({"id": "a", "use": "bad"}))).state is OrderState.FAILED
    assert len(tool.calls) == 1


@pytest.mark.anyio
async def test_a_refusal_is_answered_by_the_other_way_once(sqlite_store: SqlStore, clock: HandClock) -> None:
    first, second = Tool("first", lambda a, c: BusinessRefusal("full")), Tool("second", lambda a, c: {"by": "second"})
    world = World(sqlite_store, clock, first, second)
    order = world.order({"id": "a", "use": "first", "otherwise": {"use": "second", "with": {}}})

    report = await world.run(order)

    assert report.output == {"by": "second"}
    assert second.contexts[0].previous_error == "full"
    assert [kind for kind in await world.kinds(order) if kind.startswith("plan")] == ["plan.revised"]


@pytest.mark.anyio
async def test_a_result_that_is_not_accepted_is_done_once_more_with_what_was_learnt(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    tool = Tool("rows", one_after_the_other({"n": 0}, {"n": 5}))
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order({"id": "a", "use": "rows", "accept": ["n > 0"]}))

    assert report.output == {"n": 5}
    assert tool.contexts[1].previous_error == "The result of step a is not accepted: `n > 0` (it is false)."
    assert tool.contexts[0].key != tool.contexts[1].key


@pytest.mark.anyio
async def test_a_second_result_that_is_not_accepted_is_the_end(sqlite_store: SqlStore, clock: HandClock) -> None:
    tool = Tool("rows", lambda a, c: {"n": None})
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order({"id": "a", "use": "rows", "accept": ["n > 0"]}))

    assert report.error is not None and report.error.code == "NOT_ACCEPTED"
    assert len(tool.calls) == 2


@pytest.mark.anyio
async def test_a_plan_is_revised_at_most_as_often_as_the_setting_says(sqlite_store: SqlStore, clock: HandClock) -> None:
    tool = Tool("rows", lambda a, c: {"n": c.attempt - 1})
    world = World(sqlite_store, clock, tool, plan_revisions=1)
    steps = ({"id": f"s{n}", "use": "rows", "accept": ["n > 0"], "after": [f"s{n - 1}"] if n else []} for n in range(2))

    report = await world.run(world.order(*steps))

    assert (report.state, len(tool.calls)) == (OrderState.FAILED, 3)


@pytest.mark.anyio
async def test_an_effect_that_happened_is_never_done_again_because_it_was_not_accepted(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    tool = Tool("pay", lambda a, c: {"paid": 1}, Effect.WRITE)
    world = World(sqlite_store, clock, tool)
    order = world.order({"id": "a", "use": "pay", "accept": ["paid == 2"]})

    report = await world.run(order)
    unit = (await world.view(order)).unit("a")

    assert (report.state, len(tool.calls)) == (OrderState.FAILED, 1)
    assert unit.result is not None and unit.result.output == {"paid": 1}


@pytest.mark.anyio
async def test_a_call_that_must_be_made_is_missed(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("guess", lambda a, c: {}))

    report = await world.run(world.order({"id": "a", "use": "guess", "must_call": ["flights.query"]}))

    assert report.error is not None and "it never called flights.query" in report.error.message
