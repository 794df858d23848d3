"""Orders for tests that only need some order."""

from __future__ import annotations

from typing import Any

from contracts import ExecutionId, OrderId, PlanDefinition, Step, TaskOrder, Tier


def an_order(**changes: Any) -> TaskOrder:
    """Return an order with one step `do`."""
    plan = PlanDefinition(steps=(Step(id="do", use="python", arguments={"script": "result = 1"}),))
    facts: dict[str, Any] = {
        "order_id": OrderId.new(),
        "execution_id": ExecutionId.new(),
        "organisation": "three-airports",
        "employee": "analyst",
        "issued_by": "operations",
        "objective": "Count.",
        "plan": plan,
        "tier": Tier.EXECUTION,
        "requested_by": "ann",
        "trace_id": "0" * 32,
    }
    return TaskOrder(**{**facts, **changes})
