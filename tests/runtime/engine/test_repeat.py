from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, Json, OrderState
from runtime.capabilities.blackboard import WriteBlackboard
from runtime.engine.states import UnitState
from runtime.errors import BusinessRefusal
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def over(items: list[Json], **step: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    plan = {"plan": {"parameters": {"items": {"type": "array"}}}, "inputs": {"items": items}}
    return {"id": "each", "for_each": "{{ items }}", **step}, plan


async def test_a_repetition_gives_its_outputs_in_the_order_of_the_items(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("double", lambda a, c: {"twice": a["n"] * 2}))
    step, plan = over([3, 1, 2], use="double", **{"with": {"n": "{{ item }}"}})

    report = await world.run(world.order(step, **plan))

    assert report.output == [{"twice": 6}, {"twice": 2}, {"twice": 4}]


async def test_an_empty_list_gives_an_empty_list(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("double", lambda a, c: {}))
    step, plan = over([], use="double")

    report = await world.run(world.order(step, {"id": "last", "use": "double", "with": {"all": "{{ each }}"}}, **plan))

    assert (report.state, world.tools["double"].calls) == (OrderState.DONE, [{"all": []}])


async def test_one_failed_repetition_fails_the_step_and_no_other_begins(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    def act(arguments: Any, context: object) -> Any:
        return BusinessRefusal(f"{arguments['n']} is refused") if arguments["n"] == 1 else {}

    world = World(sqlite_store, clock, Tool("try", act))
    step, plan = over([0, 1, 2, 3], use="try", at_once=1, **{"with": {"n": "{{ item }}"}})
    order = world.order(step, **plan)
    report = await world.run(order)
    states = [unit.state for unit in (await world.view(order)).repetitions("each")]

    assert report.error is not None and report.error.message == "1 is refused"
    assert states[:2] == [UnitState.DONE, UnitState.FAILED]
    assert len(world.tools["try"].calls) == 2


async def test_until_ends_when_its_check_holds_and_sees_its_previous_output(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("add", lambda a, c: {"n": (a["before"] or {"n": 0})["n"] + 1}))
    loop = {"id": "grow", "use": "add", "with": {"before": "{{ grow }}"}, "until": {"check": "n >= 3", "most": 5}}

    report = await world.run(world.order(loop))

    assert (report.state, report.output) == (OrderState.DONE, {"n": 3})


async def test_a_loop_that_was_stopped_in_the_middle_sees_the_output_before_the_stop(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    seen: list[Json] = []

    def act(arguments: Any, context: Any) -> dict[str, Json]:
        seen.append(arguments["before"])
        if len(seen) == 2:
            raise Crash
        return {"n": len(seen)}

    world = World(sqlite_store, clock, Tool("add", act))
    loop = {"id": "grow", "use": "add", "with": {"before": "{{ grow }}"}, "until": {"check": "n >= 3", "most": 5}}
    order = world.order(loop)
    with pytest.raises(Crash):
        await world.run(order)
    await world.run(order)

    assert seen == [None, {"n": 1}, {"n": 1}]


async def test_what_a_loop_reads_of_its_previous_output_is_traced_to_the_run_that_gave_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("add", lambda a, c: {"n": (a["before"] or {"n": 0})["n"] + 1}))
    loop = {"id": "grow", "use": "add", "with": {"before": "{{ grow }}"}, "until": {"check": "n >= 2", "most": 5}}
    order = world.order(loop)
    await world.run(order)

    first = (await world.view(order)).unit("grow", 0).result
    origins = [context.origins["before"] for context in world.tools["add"].contexts]
    assert first is not None
    assert [(origin.step, origin.result_sha256) for origin in origins[1:]] == [("head/grow", first.result_sha256)]


async def test_ten_repetitions_that_write_one_key_at_once_all_write_it_and_each_version_stays(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """O5: the last writer wins, and every version before it can be seen with who wrote it."""
    world = World(sqlite_store, clock)
    world.tools["blackboard.write"] = WriteBlackboard()  # type: ignore[assignment]
    step, plan = over(list(range(10)), use="blackboard.write", at_once=10,
                      **{"with": {"key": "best", "value": "{{ item }}"}})  # fmt: skip

    report = await world.run(world.order(step, **plan))

    written = await sqlite_store.ledger.read(f"blackboard/{world.execution_id.ulid}/best")
    assert report.state is OrderState.DONE
    assert sorted(event.data["value"] for event in written if event.data) == list(range(10))
    assert {(event.data["employee"], event.data["step"]) for event in written if event.data} == {("head", "each")}
    assert isinstance(report.output, list)
    assert sorted(one["version"] for one in report.output if isinstance(one, dict)) == list(range(1, 11))


async def test_a_write_that_names_the_version_it_expects_is_refused_when_the_key_moved_on(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock)
    world.tools["blackboard.write"] = WriteBlackboard()  # type: ignore[assignment]
    step, plan = over([1, 2], use="blackboard.write", at_once=1,
                      **{"with": {"key": "best", "value": "{{ item }}", "expected_version": 0}})  # fmt: skip
    order = world.order(step, **plan)

    report = await world.run(order)

    assert report.state is OrderState.FAILED
    assert report.error is not None and report.error.code == "VERSION_CONFLICT"
    assert (await world.view(order)).state_of("each") is UnitState.FAILED


async def test_repetitions_that_leave_their_output_on_the_blackboard_are_called_once_each(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async def act(arguments: Any, context: Any) -> dict[str, Json]:
        await asyncio.sleep(0)
        return {"n": arguments["n"]}

    world = World(sqlite_store, clock, Tool("pay", act, Effect.WRITE))
    step, plan = over(list(range(10)), use="pay", at_once=10, output="blackboard", **{"with": {"n": "{{ item }}"}})

    report = await world.run(world.order(step, **plan))

    written = await sqlite_store.ledger.read(f"blackboard/{world.execution_id.ulid}/each")
    assert report.state is OrderState.DONE
    assert len(world.tools["pay"].calls) == len(written) == 10


async def test_a_loop_at_its_bound_is_a_partial_report_and_not_silence(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, Tool("same", lambda a, c: {"n": 0}))
    loop = {"id": "loop", "use": "same", "until": {"check": "n > 0", "most": 5}}

    report = await world.run(world.order(loop))

    assert report.state is OrderState.PARTIAL
    assert report.error is not None and report.error.code == "REPETITION_LIMIT"
    assert len(world.tools["same"].calls) == 5


async def test_a_loop_stopped_in_the_middle_goes_on_there_and_a_second_run_counts_anew(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D9: counters come from the ledger of the order, never from the process."""
    world = World(sqlite_store, clock)

    def act(arguments: Any, context: Any) -> dict[str, Json]:
        if context.key.endswith(":2") and not world.gate.doubts:
            world.gate.doubts["stopped"] = None  # type: ignore[index, assignment]
            raise Crash
        return {"n": arguments["i"]}

    world.tools["count"] = Tool("count", act)
    loop = {"id": "loop", "use": "count", "with": {"i": "{{ index }}"}, "until": {"check": "n >= 4", "most": 5}}
    first, second = world.order(loop), world.order(loop)
    with pytest.raises(Crash):
        await world.run(first)

    reports = [await world.run(first), await world.run(second)]

    assert [report.output for report in reports] == [{"n": 4}, {"n": 4}]
    calls = [context.key.rpartition(":")[2] for context in world.tools["count"].contexts]
    assert calls == ["0", "1", "2", "2", "3", "4", "0", "1", "2", "3", "4"]
