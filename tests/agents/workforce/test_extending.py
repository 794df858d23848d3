"""O7 through the tree: a cap deep below is a report at the root, and more at the root reaches who was capped."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Budget, ExecutionId, OrderState, PlanDefinition
from runtime.capabilities.port import CallContext, CallResult
from runtime.ledger.port import Store
from tests.agents.employee.staff import department
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio

TEN = [{"id": f"p{n}", "by": "analyst", "use": "flights.query", "with": {"text": n},
        "after": [f"p{n - 1}"] if n else []} for n in range(10)]  # fmt: skip


async def test_a_cap_of_three_on_a_task_of_ten_is_extended_and_nothing_is_done_twice(
    sqlite_store: Store, clock: HandClock
) -> None:
    did: list[Any] = []

    def query(arguments: Any, context: CallContext) -> CallResult:
        did.append(arguments["text"])
        return CallResult({"text": f"part {arguments['text']}"})

    plan = PlanDefinition.model_validate({"steps": TEN, "gives": {"first": "{{ p0.text }}", "last": "{{ p9.text }}"}})
    firm = Company(department(plan), sqlite_store, clock, {"flights.query": query})
    capped = await firm.ask("explain", governance={"budget": Budget(steps=3)})
    (execution,) = await sqlite_store.ledger.streams("execution")

    await firm.executor.request_reopening(ExecutionId(execution), "ann", budget=Budget(steps=20))
    report = await firm.executor.run(ExecutionId(execution), reopen=True)

    assert (capped.state, capped.output) == (OrderState.PARTIAL, _found("part 0"))
    assert (report.state, report.output) == (OrderState.DONE, _found("part 0", "part 9"))
    assert did == list(range(10))
    assert capped.asks is not None and capped.asks.asked.steps == 7  # what is missing two levels below


def _found(first: str, last: str | None = None) -> dict[str, Any]:
    return {"first": first, "last": last}
