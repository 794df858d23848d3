"""Reflect: is what came out what was asked for, and is there evidence that it was done?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts import ErrorCategory, Json, OrderState, Problem, StatusReport, TaskOrder
from runtime.engine import UnitState, fold_order, outputs_of, unmet_checks
from runtime.errors import BusinessRefusal, CapabilityFailed
from runtime.ledger.port import Store


class OrderNotMet(BusinessRefusal):
    """An employee's result is not what its order asks for; who gave the order may have another way."""

    code = "ORDER_NOT_MET"


@dataclass(frozen=True, slots=True)
class Done:
    """What the ledger says was done for the order."""

    outputs: Mapping[str, Json]
    """Step → output, of every step that is settled."""
    steps: frozenset[str]
    """Steps that were done, not skipped."""
    uses: frozenset[str]
    """Capabilities called, in orders below as well."""


async def reflect(order: TaskOrder, report: StatusReport, store: Store) -> StatusReport:
    """Return the report of an order, judged by what the ledger says was done; see `judge`."""
    if report.state is not OrderState.DONE:
        return report
    view = fold_order(await store.ledger.read(str(order.order_id)))
    steps = frozenset(unit.step for unit in view.units.values() if unit.state is UnitState.DONE)
    outputs = await outputs_of(view, store.blobs) if order.plan.accept else {}
    return judge(order, report, Done(outputs, steps, frozenset(view.uses)))


def judge(order: TaskOrder, report: StatusReport, done: Done) -> StatusReport:
    """Return the report, failed when it says done and is not: the giver's step then tries another way.

    The order's criteria are judged over its output, the plan's checks on the whole over its parameters and the outputs
    of all steps, and every call that the plan requires is looked for, so that the reason names all that is missing. A
    criterion that cannot be judged is not met.
    """
    if report.state is not OrderState.DONE:
        return report
    fields = report.output if isinstance(report.output, dict) else {}
    unmet = [
        *unmet_criteria(order.accept, {"output": report.output, **fields}),
        *unmet_criteria(order.plan.accept, {**order.inputs, **done.outputs}),
        *_missing_calls(order, done),
    ]
    if not unmet:
        return report
    problem = Problem(
        code=OrderNotMet.code,
        category=ErrorCategory.BUSINESS,
        message=f"{order.employee} reports done, but what was asked for is not met: {'; '.join(unmet)}.",
        facts={"order_id": order.order_id, "unmet": list[Json](unmet)},
    )
    return report.model_copy(update={"state": OrderState.FAILED, "output": None, "error": problem})


def unmet_criteria(criteria: Sequence[str], values: Mapping[str, Json]) -> list[str]:
    """Return each criterion that does not hold over `values`, with the reason."""
    unmet = []
    for criterion in criteria:
        try:
            unmet += [f"`{item.check}` ({item.why.rstrip('.')})" for item in unmet_checks((criterion,), values)]
        except CapabilityFailed as error:
            unmet.append(f"`{criterion}` cannot be judged ({error.message.rstrip('.')})")
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
