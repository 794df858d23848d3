"""What there is of steps that are not done, for a report of an order that stopped at a limit."""

from __future__ import annotations

from contracts import Json, OrderState, Step
from runtime.engine.context import Run
from runtime.engine.recall import recall_one
from runtime.engine.resume import open_view
from runtime.engine.states import UnitState
from runtime.engine.view import Unit


async def partial_outputs(run: Run) -> dict[str, Json]:
    """Return step → what there is of it, for each step of the plan that is not done and has something to show.

    Repetitions are a list up to the last that is done, with null for those before it that are not, a group is
    `{branch: output}` with the same; of what another employee was doing it is the output of that order's own report.
    """
    found: dict[str, Json] = {}
    for step in run.order.plan.steps:
        if not run.view.state_of(step.id).settled or run.view.state((step.id, None)) is UnitState.FAILED:
            some = await _some(run, step)
            if some is not None:
                found[step.id] = some
    return found


async def _some(run: Run, step: Step) -> Json:
    repeated = run.view.repetitions(step.id)
    if not repeated and step.parallel:
        return _or_none({branch.id: await _of_branch(run, branch) for branch in step.parallel})
    if not repeated:
        return await _of_order(run, run.view.unit(step.id))
    given = {unit.index or 0: part for unit in repeated if (part := await _of_unit(run, step, unit)) is not None}
    if not given:
        return None
    last = max(given)
    return given[last] if step.until is not None else [given.get(index) for index in range(last + 1)]


async def _of_branch(run: Run, branch: Step) -> Json:
    if run.view.state((branch.id, None)) is UnitState.DONE:
        return await recall_one(run.view, run.blobs, branch, None)
    return await _some(run, branch)


async def _of_unit(run: Run, step: Step, unit: Unit) -> Json:
    if unit.state is UnitState.DONE:
        return await recall_one(run.view, run.blobs, step, unit.index)
    return await _of_order(run, unit)


async def _of_order(run: Run, unit: Unit) -> Json:
    """Return what the order below gave, where it stopped at a limit as well."""
    if unit.child is None or unit.state is UnitState.DONE:
        return None
    report = (await open_view(run.ledger, str(unit.child.order_id))).report
    return report.output if report is not None and report.state is OrderState.PARTIAL else None


def _or_none(branches: dict[str, Json]) -> Json:
    return branches if any(part is not None for part in branches.values()) else None
