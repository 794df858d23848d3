"""What must hold for any plan, any faults and any moment of death."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import OrderState, StatusReport
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView
from runtime.errors import BusinessRefusal, NetworkFault
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, World

FAULTS = ("none", "none", "none", "network", "refused", "stray")


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps that call `work` with a fault each, alone, repeated or in groups, after any of the steps before them."""
    steps: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        fault = draw(st.sampled_from(FAULTS))
        work = {"use": "work", "with": {"fault": fault}}
        kind = draw(st.sampled_from(("one", "one", "each", "group")))
        step: dict[str, Any] = {"id": f"s{number}", **work}
        if kind == "each":
            step |= {"for_each": "{{ context.items }}", "at_once": draw(st.integers(1, 3))}
        if kind == "group":
            branches = [{"id": f"s{number}_{b}", **work} for b in range(draw(st.integers(1, 3)))]
            step = {"id": f"s{number}", "parallel": branches}
        if steps:
            names = [earlier["id"] for earlier in steps]
            step["after"] = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        steps.append(step)
    return steps


def work(arguments: Any, context: Any) -> Any:
    match arguments["fault"]:
        case "network" if context.attempt < 3:
            return NetworkFault("reset")
        case "refused":
            return BusinessRefusal("no")
        case "stray":
            return RuntimeError("bug")
    return {"key": context.key.partition(":")[2]}


class Laboratory:
    """One store and one event loop for all examples; each example has an order of its own."""

    def __init__(self, runner: asyncio.Runner, store: SqlStore, clock: HandClock) -> None:
        self._runner = runner
        self._store = store
        self._clock = clock

    def carry_out(self, steps: list[dict[str, Any]], deaths: list[tuple[int, bool]]) -> Ended:
        """Carry the plan out by one process after the other; each dies at its append, the last one lives."""
        return self._runner.run(self._carried_out(steps, deaths))

    async def _carried_out(self, steps: list[dict[str, Any]], deaths: list[tuple[int, bool]]) -> Ended:
        tool = Tool("work", work)
        world = World(self._store, self._clock, tool, dispatch_at_once=3)
        order = world.order(*steps, context={"items": ["a", "b", "c"]})
        for at, committed in deaths:
            world.store = CrashingStore(self._store, at, committed=committed)
            with suppress(Crash):
                await world.run(order)
        world.store = self._store
        report = await world.run(order)
        events = await self._store.ledger.read(str(order.order_id))
        finished = [f"{e.data['step']}:{e.data['index']}" for e in events if e.type == "step.finished" and e.data]
        return Ended(report, await world.view(order), finished, tool)


@dataclass
class Ended:
    """What is left when a plan has ended."""

    report: StatusReport
    view: OrderView
    finished: list[str]
    tool: Tool


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    clock = HandClock()
    logging.disable(logging.ERROR)  # hundreds of stray exceptions are meant here
    with asyncio.Runner() as runner:
        home = tmp_path_factory.mktemp("store")
        store = runner.run(open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock))
        yield Laboratory(runner, store, clock)
        runner.run(store.close())
    logging.disable(logging.NOTSET)


@settings(max_examples=60, deadline=None)
@given(plans(), st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=3))
def test_finished_work_is_never_done_again_and_everything_settles(
    laboratory: Laboratory, steps: list[dict[str, Any]], deaths: list[tuple[int, bool]]
) -> None:
    ended = laboratory.carry_out(steps, deaths)

    assert set(Counter(ended.finished).values()) <= {1}
    assert ended.report.state in (OrderState.DONE, OrderState.FAILED)
    begun = [unit for unit in ended.view.units.values() if unit.failures or unit.result]
    assert all(unit.state.settled for unit in begun)
    assert all(calls <= 3 + len(deaths) for calls in ended.tool.keys.values())
    if ended.report.state is OrderState.DONE:
        assert all(ended.view.state_of(step["id"]) is UnitState.DONE for step in steps)


@settings(max_examples=30, deadline=None)
@given(plans(), st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=3))
def test_dying_changes_nothing_about_the_outcome_of_a_plan_that_can_be_done(
    laboratory: Laboratory, steps: list[dict[str, Any]], deaths: list[tuple[int, bool]]
) -> None:
    for step in steps:
        if "use" in step and step["with"]["fault"] in ("refused", "stray"):
            step["with"] = {"fault": "network"}

    unharmed, killed = laboratory.carry_out(steps, []), laboratory.carry_out(steps, deaths)

    assert (unharmed.report.state, killed.report.state) == (OrderState.DONE, OrderState.DONE)
    assert killed.report.output == unharmed.report.output
