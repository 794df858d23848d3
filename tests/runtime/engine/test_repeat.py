from __future__ import annotations

from typing import Any

import pytest

from contracts import Json, OrderState
from runtime.engine import UnitState
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
