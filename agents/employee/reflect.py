"""Reflect: is what came out what was asked for, and is there evidence that it was done?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.employee.evidence import calls_of, slot_faults
from contracts import ErrorCategory, Json, OrderState, Problem, StatusReport, StepId, TaskOrder, Tier
from runtime.engine.accept import unmet_checks
from runtime.engine.other_way import form_of
from runtime.engine.recall import outputs_of
from runtime.engine.resume import open_view
from runtime.errors import BusinessRefusal, CapabilityFailed
from runtime.ledger.port import Store


class OrderNotMet(BusinessRefusal):
    """An employee's result is not what its order asks for; who gave the order may have another way."""

    code = "ORDER_NOT_MET"


@dataclass(frozen=True, slots=True)
class Done:
    """What the ledger says was done for the order, and the evidence of it."""

    outputs: Mapping[str, Json] = field(default_factory=dict)
    """Step → output, of every step that is settled; filled where the plan has checks on the whole."""
    calls: Mapping[StepId, frozenset[str]] = field(default_factory=dict)
    """Step → capabilities that evidence shows it called; of each step that was done and has to call something."""
    faults: Sequence[str] = ()
    """What is missing of the evidence."""


async def reflect(order: TaskOrder, report: StatusReport, store: Store) -> StatusReport:
    """Return the report of an order, judged by what the ledger says was done; see `judge`."""
    if report.state is not OrderState.DONE:
        return report
    return judge(order, report, await _look(order, report, store))


async def _look(order: TaskOrder, report: StatusReport, store: Store) -> Done:
    """Return what judging the order takes; most orders take nothing, and nothing is read for them."""
    in_slot = order.tier is Tier.EXECUTION
    faults = await slot_faults(store.ledger, order, report.evidence) if in_slot else []
    if not order.plan.accept and not any(step.must_call for step in order.plan.all_steps()):
        return Done(faults=faults)
    view = await open_view(store.ledger, str(order.order_id))
    binding = [step for step in order.plan.all_steps() if form_of(step, view.unit(step.id)).must_call]
    return Done(
        outputs=await outputs_of(view, store.blobs) if order.plan.accept else {},
        calls={step.id: await calls_of(store.ledger, view, step) for step in binding if step.id in view.done},
        faults=faults,
    )


def judge(order: TaskOrder, report: StatusReport, done: Done) -> StatusReport:
    """Return the report, failed when it says done and is not: the giver's step then tries another way.

    The order's criteria are judged over its output, the plan's checks on the whole over its parameters and the outputs
    of all steps, and evidence is looked for of every call that was to be made, so that the reason names all that is
    missing. A criterion that cannot be judged is not met.
    """
    if report.state is not OrderState.DONE:
        return report
    fields = report.output if isinstance(report.output, dict) else {}
    unmet = [
        *unmet_criteria(order.accept, {"output": report.output, **fields}),
        *unmet_criteria(order.plan.accept, {**order.inputs, **done.outputs}),
        *_missing_calls(order, done),
        *done.faults,
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
    return [
        f"step {step.id} must call {name}, and nothing shows that it did"
        for step in order.plan.all_steps()
        if step.id in done.calls
        for name in step.must_call
        if name not in done.calls[step.id]
    ]
