"""Synthesise: what the employee hands back to the one who gave the order."""

from __future__ import annotations

from contracts import ErrorCategory, OrderState, Problem, StatusReport, TaskOrder


def synthesise(order: TaskOrder, report: StatusReport) -> StatusReport:
    """Return the report as it goes up: an output where something was done, and none where nothing was.

    What the output is, the plan's `gives` says. "Done" with nothing to show is a failure.
    """
    if report.state is OrderState.DONE and report.output is None and not report.artifacts and order.plan.gives:
        problem = Problem(
            code="NOTHING_DONE",
            category=ErrorCategory.BUSINESS,
            message=f"{order.employee} reports done, but nothing of what the plan gives "
            f"({', '.join(order.plan.gives)}) is there.",
            facts={"order_id": order.order_id},
        )
        return report.model_copy(update={"state": OrderState.FAILED, "error": problem})
    return report
