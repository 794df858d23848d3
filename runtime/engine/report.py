"""How an order stands, or how it ended, in one report."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import (
    CardId,
    EvidenceId,
    Json,
    OrderState,
    Problem,
    QuestionId,
    StatusReport,
)
from runtime.bindings import BindingFault, references, resolve
from runtime.engine.accept import require_checks
from runtime.engine.compensate import cancelled
from runtime.engine.context import Run
from runtime.engine.graph import PlanCycle, order
from runtime.engine.outcome import End, Outcome
from runtime.engine.states import UnitState
from runtime.errors import CapabilityFailed, InvalidArguments


async def report_on(run: Run, outcomes: Mapping[str, Outcome]) -> StatusReport:
    """Return the report that follows from how the steps ended."""
    state, problem = _state(run, outcomes)
    output: Json = None
    if state in (OrderState.DONE, OrderState.PARTIAL):
        try:
            output = await _output(run, strict=state is OrderState.DONE)
        except InvalidArguments as error:
            state, problem = OrderState.FAILED, error.problem()
    if state is OrderState.DONE and (unmet := await _unmet(run)) is not None:
        state, output, problem = OrderState.FAILED, None, unmet
    return report(run, state, output=output, problem=problem)


def report(run: Run, state: OrderState, *, output: Json = None, problem: Problem | None = None) -> StatusReport:
    """Return a report of what the view says, in the given state."""
    view, steps = run.view, run.order.plan.steps
    over = sum(view.state_of(step.id) in (UnitState.DONE, UnitState.SKIPPED) for step in steps)
    sealed: dict[EvidenceId, None] = {}
    for unit in view.units.values():
        sealed.update(dict.fromkeys((*unit.sealed, *(unit.result.sealed if unit.result else ()))))
    return StatusReport(
        order_id=run.order.order_id,
        state=state,
        progress=1.0 if state is OrderState.DONE else over / len(steps),
        output=output,
        artifacts=tuple(dict.fromkeys(view.artifacts)),
        usage=view.usage,
        error=problem,
        waiting_for=tuple(map(_id, view.waiting_for)) if state is OrderState.WAITING else (),
        evidence=tuple(sealed),
    )


def _state(run: Run, outcomes: Mapping[str, Outcome]) -> tuple[OrderState, Problem | None]:
    steps = run.order.plan.steps
    ends = [outcomes[step.id] for step in steps if step.id in outcomes]
    if len(ends) == len(steps) and all(outcome.end in (End.DONE, End.SKIPPED) for outcome in ends):
        return OrderState.DONE, None
    if run.cancelled():
        return OrderState.CANCELLED, None
    for end, state in ((End.FAILED, OrderState.FAILED), (End.LIMIT, OrderState.PARTIAL)):
        for outcome in ends:
            if outcome.end is end:
                return state, outcome.problem
    if any(outcome.end is End.WAITING for outcome in ends):
        return OrderState.WAITING, None
    return (OrderState.CANCELLED, None) if any(o.end is End.STOPPED for o in ends) else _stuck(run)


def _stuck(run: Run) -> tuple[OrderState, Problem]:
    """Return why steps are left that nothing holds up: they wait for each other."""
    try:
        order(run.order.plan)
    except PlanCycle as cycle:
        return OrderState.FAILED, InvalidArguments(f"{cycle} Break the ring.", ring=list(cycle.ring)).problem()
    return OrderState.CANCELLED, cancelled("The execution was cancelled before every step had begun.")


async def _unmet(run: Run) -> Problem | None:
    """Return which checks on the whole plan do not hold, if any."""
    plan = run.order.plan
    if not plan.accept:
        return None
    await run.outputs.fetch([step.id for step in plan.steps])
    try:
        require_checks("the plan", plan.accept, run.scope().values)
    except CapabilityFailed as error:
        return error.problem()
    return None


async def _output(run: Run, *, strict: bool) -> Json:
    """Return what the plan gives; not strict, what is not there is null, and without `gives` it is every output."""
    plan = run.order.plan
    gives = plan.gives
    if not gives:
        last = plan.steps[-1].id
        names = [last] if strict else [step.id for step in plan.steps]
        await run.outputs.fetch(names)
        return run.outputs.get(last) if strict else {name: run.outputs[name] for name in names if name in run.outputs}
    values = run.scope().values
    output: dict[str, Json] = {}
    for field, binding in gives.items():
        roots = _roots(binding)
        await run.outputs.fetch(roots)
        try:
            output[field] = resolve(binding, values)
        except InvalidArguments:
            if strict and not any(run.view.state_of(root) is UnitState.SKIPPED for root in roots):
                raise
            output[field] = None
    return output


def _roots(binding: Json) -> list[str]:
    try:
        return [reference.root for reference in references(binding)]
    except BindingFault as fault:
        raise InvalidArguments(str(fault)) from fault


def _id(text: str) -> CardId | QuestionId:
    return CardId(text) if text.startswith(CardId.KIND) else QuestionId(text)
