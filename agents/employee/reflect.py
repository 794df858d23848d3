"""Reflect: is what came out what was asked for, and is there evidence that it was done?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import ErrorCategory, Json, OrderState, Problem, StatusReport, TaskOrder, ValueType
from runtime.errors import BusinessRefusal
from runtime.expressions import ExpressionFailed, ExpressionFault, compile_expression, names_in


class OrderNotMet(BusinessRefusal):
    """An employee's result does not meet the criteria of its order."""

    code = "ORDER_NOT_MET"


@dataclass(frozen=True, slots=True)
class Done:
    """What the ledger says was done for the order."""

    steps: frozenset[str]
    """Steps that were done, not skipped."""
    uses: frozenset[str]
    """Capabilities called, in orders below as well."""


def reflect(order: TaskOrder, report: StatusReport, done: Done) -> StatusReport:
    """Return the report, failed when it says done and is not: the giver's step then tries another way.

    Every criterion is judged and every call that the plan requires is looked for, so that the reason names them all. A
    criterion that cannot be judged is not met.
    """
    if report.state is not OrderState.DONE:
        return report
    unmet = [*unmet_criteria(order.accept, report.output), *_missing_calls(order, done)]
    if not unmet:
        return report
    problem = Problem(
        code=OrderNotMet.code,
        category=ErrorCategory.BUSINESS,
        message=f"{order.employee} reports done, but what was asked for is not met: {'; '.join(unmet)}.",
        facts={"order_id": order.order_id, "unmet": list[Json](unmet)},
    )
    return report.model_copy(update={"state": OrderState.FAILED, "output": None, "error": problem})


def unmet_criteria(criteria: Sequence[str], output: Json) -> list[str]:
    """Return each criterion that does not hold over the output's fields, with the reason."""
    values = {**output, "output": output} if isinstance(output, dict) else {"output": output}
    unmet = []
    for criterion in criteria:
        try:
            names = {path[0] for path in names_in(criterion)} & values.keys()
            expression = compile_expression(criterion, dict.fromkeys(names, ValueType.ANY))
            if not expression.holds(values):
                unmet.append(f"`{criterion}` is false")
        except (ExpressionFault, ExpressionFailed) as error:
            unmet.append(f"`{criterion}` cannot be judged ({str(error).rstrip('.')})")
    return unmet


def _missing_calls(order: TaskOrder, done: Done) -> list[str]:
    missing = {
        name: step.id
        for step in order.plan.all_steps()
        if step.id in done.steps
        for name in step.must_call
        if name not in done.uses
    }
    return [f"step {step} must call {name}, and nothing shows that it did" for name, step in missing.items()]
