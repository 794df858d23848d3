"""O2: dispatch is a step of the runtime; what a plan gives to somebody is that one's order, whoever could do it too."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import OrderState, PlanDefinition
from runtime.capabilities.port import CallContext, CallResult
from runtime.ledger.port import Store
from tests.agents.employee.staff import FakeNode, FakeSkill, FakeStaff
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.fakes.model import ScriptedModel, says
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio

PLAN = {
    "steps": [
        {"id": "own", "use": "echo", "with": {"text": "I can do it all myself"}},
        {"id": "theirs", "description": "Count what was cancelled", "by": "worker", "use": "echo",
         "with": {"text": "{{ own.text }}"}, "must_call": ["echo"]},
    ],
    "gives": {"by": "{{ theirs.text }}"},
}  # fmt: skip


def staff(plan: Any) -> FakeStaff:
    worker = FakeNode("worker", can=("echo",))
    boss = FakeNode("boss", skills=("count",), can=("echo",), manages=(worker,))
    return FakeStaff(boss, {"count": FakeSkill("count", PlanDefinition.model_validate(plan))})


async def test_a_manager_that_could_do_it_itself_has_it_done_and_the_ledger_says_who_and_why(
    sqlite_store: Store, clock: HandClock
) -> None:
    did: list[tuple[str, str]] = []

    def echo(arguments: Any, context: CallContext) -> CallResult:
        did.append((context.order.employee, context.step))
        return CallResult({"text": arguments["text"]})

    firm = Company(staff(PLAN), sqlite_store, clock, {"echo": echo})

    report = await firm.ask("count")

    assert report.state is OrderState.DONE
    assert did == [("boss", "own"), ("worker", "do")]
    root, below = await firm.orders()
    assert (below.employee, below.issued_by, below.objective) == ("worker", "boss", "Count what was cancelled")
    assert [(above.order_id, above.employee, above.skill, above.step) for above in below.chain] == [
        (root.order_id, "boss", "count", "theirs")
    ]


async def test_a_model_that_answers_everything_itself_takes_no_work_from_anybody(
    sqlite_store: Store, clock: HandClock
) -> None:
    think = {"id": "own", "react": "Count, or have it counted.", "tools": ["echo"], "gives": {"text": "string"}}
    plan = {**PLAN, "steps": [think, PLAN["steps"][1]]}
    model = ScriptedModel(says({"text": "There were 20, nobody has to look."}))
    firm = Company(staff(plan), sqlite_store, clock, model=model)

    report = await firm.ask("count")

    assert report.output == {"by": "There were 20, nobody has to look."}
    assert [(order.issued_by, order.employee) for order in await firm.orders()] == [("ann", "boss"), ("boss", "worker")]
