"""Identical reads in progress are one call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cluster.evidence import items_of
from contracts import Effect, OrderState
from runtime.capabilities.port import CallResult, NewFile, Waiting
from runtime.engine.flights import Flights
from runtime.errors import PermissionRefused
from runtime.ledger.store import SqlStore
from tests.fakes.calls import a_call
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


class Gate:
    """A read that lasts until it is let go, and then gives what it was told to."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.begun = 0
        self.go = asyncio.Event()

    async def __call__(self) -> Any:
        self.begun += 1
        await asyncio.wait_for(self.go.wait(), 60)
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


async def together(gate: Gate, count: int = 3, *, then: Any = None) -> list[Any]:
    """Return how so many identical calls end that begin at the same time."""
    flights = Flights()
    tasks = [asyncio.ensure_future(flights.fly("look", {"n": 1}, a_call(step=f"s{n}"), gate)) for n in range(count)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if then is not None:
        then(tasks)
        await asyncio.sleep(0)
    gate.go.set()
    return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)


async def test_identical_calls_in_progress_are_one_and_give_everybody_the_same() -> None:
    gate = Gate(CallResult(output={"n": 1}))

    given = await together(gate)

    assert gate.begun == 1 and [result.output for result in given] == [{"n": 1}] * 3


async def test_a_failure_is_shared() -> None:
    gate = Gate(PermissionRefused("no"))

    assert [str(error) for error in await together(gate)] == ["no"] * 3
    assert gate.begun == 1


@pytest.mark.parametrize(
    "given", [Waiting(()), CallResult(output={}, files=[NewFile("a", "text/plain", b"a")])], ids=["waits", "file"]
)
async def test_what_belongs_to_the_step_that_called_is_not_shared(given: Any) -> None:
    gate = Gate(given)

    assert await together(gate) == [given] * 3
    assert gate.begun == 3


async def test_who_joined_a_call_that_was_stopped_makes_it() -> None:
    gate = Gate(CallResult(output={"n": 1}))

    first, *others = await together(gate, then=lambda tasks: tasks[0].cancel())

    assert isinstance(first, asyncio.CancelledError)
    assert [result.output for result in others] == [{"n": 1}] * 2 and gate.begun == 2


async def test_who_joined_and_is_stopped_leaves_the_call_to_the_others() -> None:
    gate = Gate(CallResult(output={"n": 1}))

    first, second, third = await together(gate, then=lambda tasks: tasks[1].cancel())

    assert isinstance(second, asyncio.CancelledError) and gate.begun == 1
    assert first.output == third.output == {"n": 1}


async def test_everybody_stopped_at_once_calls_nothing_more() -> None:
    gate = Gate(CallResult(output={}))

    given = await together(gate, then=lambda tasks: [task.cancel() for task in tasks])

    assert [type(each) for each in given] == [asyncio.CancelledError] * 3 and gate.begun == 1


@pytest.mark.parametrize("other", [{"n": True}, {"n": 1.0}, {"n": 1, "m": None}, {}])
async def test_arguments_that_only_look_the_same_are_another_call(other: Any) -> None:
    gate, flights = Gate(CallResult(output={})), Flights()
    tasks = [asyncio.ensure_future(flights.fly("look", given, a_call(), gate)) for given in ({"n": 1}, other)]
    await asyncio.sleep(0)
    gate.go.set()
    await asyncio.gather(*tasks)

    assert gate.begun == 2


async def test_a_call_that_may_take_longer_is_another_one() -> None:
    gate, flights = Gate(CallResult(output={})), Flights()
    tasks = [asyncio.ensure_future(flights.fly("look", {}, a_call(), gate, timeout_s=limit)) for limit in (1, None)]
    await asyncio.sleep(0)
    gate.go.set()
    await asyncio.gather(*tasks)

    assert gate.begun == 2


def slow_world(store: SqlStore, clock: HandClock, **spec: Any) -> World:
    async def look(arguments: Any, context: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"n": 1}

    return World(store, clock, Tool("look", look, **spec))


BOTH = {"id": "both", "parallel": [{"id": "a", "use": "look"}, {"id": "b", "use": "look"}]}


async def test_two_steps_that_read_the_same_at_once_share_the_call_and_say_so(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = slow_world(sqlite_store, clock)
    order = world.order(BOTH)

    report = await world.run(order)

    assert report.output == {"a": {"n": 1}, "b": {"n": 1}} and len(world.tools["look"].calls) == 1
    evidence = items_of(await sqlite_store.ledger.read(str(order.order_id)))
    assert {item.step for item in evidence} == {"a", "b"}
    assert [item.facts.get("shared_with") for item in evidence] == [None, f"{order.order_id.ulid}:a"]


@pytest.mark.parametrize("spec", [{"every_call": True}, {"effect": Effect.WRITE}])
async def test_calls_that_count_and_effects_are_made_each(
    sqlite_store: SqlStore, clock: HandClock, spec: dict[str, Any]
) -> None:
    world = slow_world(sqlite_store, clock, **spec)

    assert (await world.run(world.order(BOTH))).state is OrderState.DONE
    assert len(world.tools["look"].calls) == 2


async def test_a_read_that_is_over_is_read_again(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = slow_world(sqlite_store, clock)

    await world.run(world.order({"id": "a", "use": "look"}, {"id": "b", "use": "look", "after": ["a"]}))

    assert len(world.tools["look"].calls) == 2
