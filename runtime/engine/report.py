"""How an order stands, or how it ended, in one report."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import cast

from contracts import (
    CardId,
    Extension,
    Json,
    OrderState,
    Problem,
    QuestionId,
    StatusReport,
)
from runtime.bindings import BindingFault, references, resolve
from runtime.engine.accept import require_checks
from runtime.engine.cancelled import cancelled
from runtime.engine.context import Run
from runtime.engine.extension import extension_for
from runtime.engine.graph import PlanCycle, order
from runtime.engine.outcome import End, Outcome
from runtime.engine.partial import partial_outputs
from runtime.engine.recall import read_artifacts
from runtime.engine.states import UnitState
from runtime.errors import CapabilityFailed, InvalidArguments


async def report_on(run: Run, outcomes: Mapping[str, Outcome]) -> StatusReport:
    """Return the report that follows from how the steps ended."""
    await read_artifacts(run.view)
    state, problem = _state(run, outcomes)
    output: Json = None
    if state in (OrderState.DONE, OrderState.PARTIAL):
        try:
            output = await _output(run, strict=state is OrderState.DONE)
        except InvalidArguments as error:
            state, problem = OrderState.FAILED, error.problem()
    if state is OrderState.DONE and (unmet := await _unmet(run)) is not None:
        state, output, problem = OrderState.FAILED, None, unmet
    asks = await extension_for(run, problem) if state is OrderState.PARTIAL and problem is not None else None
    return report(run, state, output=output, problem=problem, asks=asks)


def report(
    run: Run, state: OrderState, *, output: Json = None, problem: Problem | None = None,
    waiting_for: Sequence[str] | None = None, asks: Extension | None = None,
) -> StatusReport:  # fmt: skip
    """Return a report of what the view says, in the given state; `waiting_for` in place of what its units wait for."""
    view, steps = run.view, run.order.plan.steps
    asked = view.waiting_for if waiting_for is None else waiting_for
    over = sum(view.state_of(step.id) in (UnitState.DONE, UnitState.SKIPPED) for step in steps)
    artifacts = (artifact for _, some in sorted(view.artifacts.items()) for artifact in some or ())
    sealed = (evidence for _, some in sorted(view.sealed.items()) for evidence in some)
    return StatusReport(
        order_id=run.order.order_id,
        state=state,
        progress=1.0 if state is OrderState.DONE else over / len(steps),
        output=output,
        artifacts=tuple(dict.fromkeys(artifacts)),
        usage=view.usage,
        error=problem,
        waiting_for=tuple(map(_id, asked)) if state is OrderState.WAITING else (),
        evidence=tuple(dict.fromkeys(sealed)),
        asks=asks,
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
    """Return what the plan gives.

    Not strict, what there is of steps that are not done counts, what is not there is null, and without `gives` it is
    every output by step, or that of the only one.
    """
    plan = run.order.plan
    gives = plan.gives
    partial = {} if strict else await partial_outputs(run)
    if not gives:
        last = plan.steps[-1].id
        names = [last] if strict else [step.id for step in plan.steps]
        await run.outputs.fetch(names)
        there = ChainMap(run.outputs, partial)
        if strict or len(names) == 1:
            return there.get(last)
        return {name: there[name] for name in names if name in there}
    values = ChainMap(partial, cast("dict[str, Json]", run.scope().values))
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
