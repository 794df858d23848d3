"""Budgets given anew to an execution that reached one."""

from __future__ import annotations

from agents.employee.root import narrower
from console.budgets import LIMITS, budget_as_text
from contracts import Budget
from runtime.engine.budget import enforce_budget
from runtime.errors import BudgetExceeded, BusinessRefusal
from runtime.executor import ExecutionView


class BudgetRefused(BusinessRefusal):
    """The new budget lets nothing go on; the execution stays as it is."""

    code = "BUDGET_REFUSED"


def new_budget(view: ExecutionView, given: Budget, organisations: Budget) -> Budget:
    """Return the budget with which a stopped execution goes on: limits that are not given stay as they were.

    Raises:
        BudgetRefused: as much was used already, or the organisation allows no more.
    """
    assert view.report is not None, "what has stopped says how"
    changed = {name: limit for name in LIMITS if (limit := getattr(given, name)) is not None}
    budget = view.request.governance.budget.model_copy(update=changed)
    try:
        enforce_budget(narrower(budget, organisations), view.report.usage)
    except BudgetExceeded as error:
        raise _too_small(view, error, organisations) from None
    return budget


def not_stopped(view: ExecutionView) -> BudgetRefused:
    """Return why an execution that has not stopped gets no other budget."""
    how = f"has ended as {view.report.state}" if view.report is not None else f"is {view.state}"
    return BudgetRefused(
        f"{view.execution_id} {how}. A new budget is given to an execution that failed or reached a limit, once it has "
        "stopped there. Nothing was changed.",
        execution_id=view.execution_id,
    )


def _too_small(view: ExecutionView, error: BudgetExceeded, organisations: Budget) -> BudgetRefused:
    limit, most, spent = (str(error.facts[name]) for name in ("limit", "most", "spent"))
    message = f"{view.execution_id} has used {spent} {limit} and would get {most}, so nothing could go on."
    if budget_as_text(organisations).get(limit) == most:
        message += f" The organisation allows no more: `budget` in its org.yaml, as it was at the start, says {most}."
    else:
        message += f" Give it more than {spent}."
    return BudgetRefused(f"{message} Nothing was changed.", **error.facts)
