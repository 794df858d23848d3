"""A branch that is cancelled alone returns what it had set aside, and its siblings wait for that."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from contracts import Budget, Effect, Money, OrderState, PlanDefinition, StatusReport, TaskOrder
from runtime.engine.states import UnitState
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
DOLLAR = Money(amount=Decimal(1), currency="USD")
STUCK = {"id": "stuck", "by": "one", "skill": "hang"}
THREE = {"id": "three", "by": "two", "skill": "three"}
STEPS = [{"id": f"s{n}", "use": "echo", "with": {"n": n}} for n in range(3)]


class Office(World):
    """A world in which a skill hangs until it is cancelled, and another one takes three steps."""

    def __init__(self, store: SqlStore, clock: HandClock, **hang: Any) -> None:
        self.hanging = asyncio.Event()
        super().__init__(store, clock, Tool("hang", self._hang, **hang), Tool("echo", lambda a, c: {"n": 1}))
        self.skills["hang"] = PlanDefinition.model_validate({"steps": [{"id": "do", "use": "hang"}]})
        self.skills["three"] = PlanDefinition.model_validate({"steps": STEPS, "dispatch": "sequential"})

    async def _hang(self, arguments: object, context: object) -> None:
        self.hanging.set()
        await asyncio.Event().wait()

    async def cancel(self, order: TaskOrder, branch: str, *, once: str = "effect.intended") -> StatusReport:
        """Cancel the branch while it hangs, once an event tells that a sibling has come to where it needs more.

        Nobody may wait for what nobody returns.
        """
        async with asyncio.timeout(60):
            running = asyncio.ensure_future(self.run(order))
            await self.hanging.wait()
            while once not in [event.type for event in await self.store.ledger.read_execution(order.execution_id)]:
                pass  # to read is to wait
            self.cancelled_branches.add(branch)
            return await running


@pytest.mark.parametrize(
    ("sibling", "once"),
    [
        pytest.param(THREE, "order.finished", id="an order"),
        pytest.param({"id": "three", "parallel": STEPS}, "step.finished", id="steps"),
        pytest.param({"id": "three", "parallel": [THREE | {"id": "deep"}]}, "order.finished", id="an order deeper"),
    ],
)
async def test_a_sibling_ends_with_what_a_cancelled_branch_returns(
    sqlite_store: SqlStore, clock: HandClock, sibling: dict[str, Any], once: str
) -> None:
    office = Office(sqlite_store, clock)
    order = office.order({"id": "all", "parallel": [STUCK, sibling]}, budget=Budget(steps=4))

    report = await office.cancel(order, "all/stuck", once=once)

    assert (report.state, report.usage.steps) == (OrderState.DONE, 3)
    assert report.output["stuck"]["__error"]["code"] == "CANCELLED"
    assert "__error" not in str(report.output["three"])


async def test_a_branch_is_taken_out_whole_though_a_part_of_it_waits_for_what_another_part_holds(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    office = Office(sqlite_store, clock)
    inner = {"id": "inner", "parallel": [STUCK, THREE]}
    order = office.order(
        {"id": "all", "parallel": [inner]}, {"id": "after", "use": "echo", "after": ["all"]}, budget=Budget(steps=4)
    )

    report = await office.cancel(order, "all/inner", once="order.finished")

    view = await office.view(order)
    assert report.state is OrderState.DONE
    assert {view.unit(step).problem.code for step in ("inner", "stuck", "three")} == {"CANCELLED"}  # type: ignore[union-attr]


async def test_nobody_waits_for_a_cancelled_branch_that_waits_for_people(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """Only they can tell whether it was paid, and that may take days."""
    office = Office(sqlite_store, clock, effect=Effect.WRITE, costs=(DOLLAR,))
    pays = [{"id": name, "use": "hang"} for name in ("stuck", "other")]
    order = office.order({"id": "all", "parallel": pays}, budget=Budget(money=DOLLAR))

    report = await office.cancel(order, "all/stuck")

    stuck = (await office.view(order)).unit("stuck")
    assert (report.state, stuck.state, len(stuck.waiting)) == (OrderState.PARTIAL, UnitState.WAITING, 1)
