"""One branch of a group is cancelled alone; what happens in a branch says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition, TaskOrder
from runtime.capabilities.port import CallResult
from runtime.engine.branches import branches_of
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


def desk(store: Any, clock: HandClock) -> tuple[World, list[str], asyncio.Event]:
    """A world in which effects and what takes them back are written down, and `hang` hangs."""
    done: list[str] = []
    hanging = asyncio.Event()

    def act(arguments: Any, context: Any) -> dict[str, Any]:
        done.append(f"do {arguments['n']}")
        return {"id": arguments["n"]}

    def take_back(arguments: Any, context: Any) -> dict[str, Any]:
        done.append(f"undo {arguments['id']}")
        return {}

    async def hang(arguments: object, context: object) -> None:
        hanging.set()
        await asyncio.Event().wait()

    echo = Tool("echo", lambda arguments, context: dict(arguments))
    undo = Tool("undo", take_back, Effect.WRITE, can_look_up=True)
    return (
        World(store, clock, Tool("do", act, Effect.WRITE, can_look_up=True), undo, Tool("hang", hang), echo),
        done,
        hanging,
    )


def effect(n: int, **more: Any) -> dict[str, Any]:
    undo = {"use": "undo", "with": {"id": f"{{{{ e{n}.id }}}}"}}
    return {"id": f"e{n}", "use": "do", "with": {"n": n}, "compensate": undo, **more}


async def cancel(world: World, order: TaskOrder, hanging: asyncio.Event, branch: str) -> Any:
    async with asyncio.timeout(60):
        running = asyncio.ensure_future(world.run(order))
        await hanging.wait()
        world.cancelled_branches.add(branch)
        return await running


async def branches_in_events(world: World, order: TaskOrder) -> set[tuple[str, str]]:
    events = await world.store.ledger.read_execution(order.execution_id)
    return {
        (str(event.data.get("step")), str(event.data["branch"]))
        for event in events
        if event.data and "branch" in event.data
    }


async def test_events_of_a_branch_bear_its_name_in_orders_below_as_well(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, *_ = desk(sqlite_store, clock)
    world.skills["look"] = PlanDefinition.model_validate(
        {"steps": [{"id": "one", "use": "echo"}, {"id": "g", "parallel": [{"id": "deep", "use": "echo"}]}]}
    )
    inner = {"id": "inner", "parallel": [{"id": "leaf", "use": "echo"}]}
    below = {"id": "below", "by": "clerk", "skill": "look"}
    order = world.order({"id": "all", "parallel": [inner, below]}, {"id": "last", "use": "echo", "after": ["all"]})

    await world.run(order)

    assert await branches_in_events(world, order) == {
        ("leaf", "all/inner/leaf"),
        ("inner", "all/inner"),
        ("below", "all/below"),
        ("one", "all/below"),
        ("g", "all/below"),
        ("deep", "all/below/g/deep"),
        ("None", "all/below"),
    }


async def test_a_cancelled_branch_failed_and_its_siblings_go_on(sqlite_store: SqlStore, clock: HandClock) -> None:
    world, _, hanging = desk(sqlite_store, clock)
    order = world.order(
        {"id": "all", "parallel": [{"id": "stuck", "use": "hang"}, {"id": "good", "use": "echo", "with": {"n": 1}}]},
        {"id": "next", "use": "echo", "with": {"why": "{{ all.stuck.__error.code }}", "n": "{{ all.good.n }}"}},
    )

    report = await cancel(world, order, hanging, "all/stuck")

    assert (report.state, report.output) == (OrderState.DONE, {"why": "CANCELLED", "n": 1})


async def test_what_a_cancelled_branch_did_is_taken_back_in_reverse_and_nothing_else(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    steps = [effect(1), effect(2, after=["e1"]), {"id": "stuck", "use": "hang", "after": ["e2"]}]
    world.skills["act"] = PlanDefinition.model_validate({"steps": steps})
    below = {"id": "below", "by": "clerk", "skill": "act"}
    order = world.order(effect(0), {"id": "all", "after": ["e0"], "parallel": [below, effect(3)]})

    report = await cancel(world, order, hanging, "all/below")

    assert report.state is OrderState.DONE
    assert report.output["below"]["__error"]["code"] == "CANCELLED"
    assert [each for each in done if each.startswith("undo")] == ["undo 2", "undo 1"]
    events = await sqlite_store.ledger.read_execution(order.execution_id)
    told = next(event.data for event in events if event.type == "order.finished")
    assert told["report"]["error"]["message"] == "The branch all/below was cancelled. Effects taken back: 2."


async def test_a_nested_group_is_taken_out_whole(sqlite_store: SqlStore, clock: HandClock) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    inner = {"id": "inner", "parallel": [effect(1), {"id": "stuck", "use": "hang"}]}
    order = world.order({"id": "all", "at_once": 1, "parallel": [{**inner, "at_once": 1}, effect(2)]})

    report = await cancel(world, order, hanging, "all/inner")

    assert report.output == {"inner": report.output["inner"], "e2": {"id": 2}}
    assert report.output["inner"]["__error"]["facts"]["branch"] == "all/inner"
    assert done == ["do 1", "undo 1", "do 2"]


@pytest.mark.parametrize("happened", [True, False])
async def test_an_effect_in_progress_is_looked_up_and_taken_back_if_it_happened(
    sqlite_store: SqlStore, clock: HandClock, happened: bool
) -> None:
    world, done, hanging = desk(sqlite_store, clock)

    async def send_and_hang(arguments: Any, context: Any) -> None:
        if happened:
            world.tools["do"].happened[context.key] = CallResult(output={"id": arguments["n"]})
        hanging.set()
        await asyncio.Event().wait()

    world.tools["do"] = Tool("do", send_and_hang, Effect.WRITE, can_look_up=True)
    order = world.order({"id": "all", "parallel": [effect(1), {"id": "good", "use": "echo"}]})

    report = await cancel(world, order, hanging, "all/e1")

    assert report.output["e1"]["__error"]["code"] == "CANCELLED"
    assert done == (["undo 1"] if happened else [])


async def test_a_branch_that_waits_for_people_is_taken_out_and_its_siblings_are_still_waited_for(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, *_ = desk(sqlite_store, clock)
    asks = [{"id": name, "ask": {"text": name}} for name in ("a", "b")]
    order = world.order({"id": "all", "parallel": asks})
    waiting = await world.run(order)
    world.cancelled_branches.add("all/a")

    still = await world.run(order)
    await world.answer(still.waiting_for[0], "yes")
    report = await world.run(order)

    assert (len(waiting.waiting_for), len(still.waiting_for)) == (2, 1)
    assert report.output["b"] == {"answer": "yes"}
    assert report.output["a"]["__error"]["code"] == "CANCELLED"


async def test_a_branch_that_has_finished_stays_as_it_is(sqlite_store: SqlStore, clock: HandClock) -> None:
    world, done, hanging = desk(sqlite_store, clock)
    order = world.order({"id": "all", "at_once": 1, "parallel": [effect(1), {"id": "stuck", "use": "hang"}]})

    running = asyncio.ensure_future(cancel(world, order, hanging, "all/e1"))
    await asyncio.wait_for(hanging.wait(), 60)
    world.cancelled_branches.add("all/stuck")
    report = await running

    assert report.output["e1"] == {"id": 1}
    assert done == ["do 1"]


async def test_a_cancelled_branch_comes_to_the_same_wherever_the_process_dies_on_the_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    async def run(at: int | None, *, committed: bool) -> tuple[World, TaskOrder, int]:
        store = CrashingStore(sqlite_store, at, committed=committed)
        world, done, hanging = desk(store, clock)
        inner = {"id": "inner", "at_once": 1, "parallel": [effect(1), {"id": "stuck", "use": "hang"}]}
        order = world.order({"id": "all", "parallel": [inner, {"id": "good", "use": "echo"}]})
        try:
            report = await cancel(world, order, hanging, "all/inner") if at is None else None
            if at is not None:
                dying = asyncio.ensure_future(world.run(order))
                waiting = asyncio.ensure_future(hanging.wait())
                await asyncio.wait({dying, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                world.cancelled_branches.add("all/inner")
                report = await dying
        except Crash:
            world.store = sqlite_store
            world.cancelled_branches.add("all/inner")
            report = await world.run(order)
        assert report is not None and report.state is OrderState.DONE, (at, committed)
        assert report.output["inner"]["__error"]["code"] == "CANCELLED", (at, committed)
        assert done in (["do 1", "undo 1"], []), (at, committed, done)
        return world, order, store.ledger.appends

    _, _, appends = await run(None, committed=False)
    for at in range(appends):
        for committed in (False, True):
            await run(at, committed=committed)
    assert appends > 5


def test_a_branch_is_named_by_its_way_from_the_root(clock: HandClock) -> None:
    inner = {"id": "b", "parallel": [{"id": "c", "use": "echo"}]}
    order = World(None, clock).order({"id": "a", "parallel": [inner]}, path="settle/pay[0]")  # type: ignore[arg-type]

    assert branches_of(order) == {"b": "settle/pay[0]/a/b", "c": "settle/pay[0]/a/b/c"}


async def test_a_cancelled_branch_waits_for_people_who_alone_can_tell_whether_its_effect_happened(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world, done, hanging = desk(sqlite_store, clock)

    async def send_and_hang(arguments: Any, context: Any) -> None:
        hanging.set()
        await asyncio.Event().wait()

    world.tools["blind"] = Tool("blind", send_and_hang, Effect.WRITE)
    way_back = {"use": "undo", "with": {"id": 9}}
    sent = {"id": "sent", "use": "blind", "compensate": way_back}
    order = world.order({"id": "all", "parallel": [sent, {"id": "good", "use": "echo"}]})

    waiting = await cancel(world, order, hanging, "all/sent")
    (card,) = waiting.waiting_for
    world.gate.decide(card, True)
    report = await world.run(order)

    assert (waiting.state, report.state) == (OrderState.WAITING, OrderState.DONE)
    assert report.output["sent"]["__error"]["code"] == "CANCELLED"
    assert done == ["undo 9"]
