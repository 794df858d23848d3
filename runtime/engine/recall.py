"""Outputs of finished steps, read back from the order's stream and the blob store."""

from __future__ import annotations

import json
from typing import cast

from contracts import Json, Problem, Step
from runtime.engine.outcome import End, Outcome
from runtime.engine.result import Result
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView
from runtime.ledger.port import Blobs


async def recall(view: OrderView, blobs: Blobs, step: Step, index: int | None = None) -> Json:
    """Return the output of a settled step: null when it was skipped, `{"__error": …}` when it failed.

    A repetition gives the list of its outputs in their order, `until` its last one, a group `{branch: output}`.
    """
    result = view.unit(step.id, index).result
    if index is None and result is not None and (step.for_each or step.until):
        parts = [await recall_one(view, blobs, step, int(member)) for member in result.members]
        return parts if step.for_each else parts[-1]
    return await recall_one(view, blobs, step, index)


async def recall_one(view: OrderView, blobs: Blobs, step: Step, index: int | None) -> Json:
    """Return the output of one unit, the repetitions of its step left apart."""
    unit = view.unit(step.id, index)
    if unit.state is UnitState.FAILED:
        return error_of(unit.problem)
    if unit.result is None:
        return None
    if step.parallel:
        return {branch.id: await recall(view, blobs, branch, index) for branch in step.parallel}
    return await output_of(unit.result, blobs)


async def output_of(result: Result, blobs: Blobs) -> Json:
    """Return a result's output, wherever it is kept."""
    if result.output_sha256 is None:
        return result.output
    return cast(Json, json.loads(await blobs.get(result.output_sha256)))


async def outputs_of(view: OrderView, blobs: Blobs) -> dict[str, Json]:
    """Return step → output of every settled step of the plan: what checks on the whole are judged by."""
    steps = view.order.plan.steps if view.order else ()
    return {step.id: await recall(view, blobs, step) for step in steps if view.state_of(step.id).settled}


async def remembered(view: OrderView, blobs: Blobs, step: Step, index: int | None, *, one: bool) -> Outcome | None:
    """Return how a unit ended in an earlier run, or None when it is not settled."""
    unit = view.unit(step.id, index)
    match unit.state:
        case UnitState.DONE:
            fetch = recall_one if one else recall
            return Outcome(End.DONE, await fetch(view, blobs, step, index))
        case UnitState.SKIPPED:
            return Outcome(End.SKIPPED)
        case UnitState.FAILED:
            return Outcome(end_of(unit.problem), problem=unit.problem)
    return None


def end_of(problem: Problem | None) -> End:
    """Return whether a problem that ended a unit is a failure or a limit that was reached."""
    return End.LIMIT if problem is not None and problem.code in LIMITS else End.FAILED


LIMITS = ("BUDGET_EXCEEDED", "REPETITION_LIMIT")


def error_of(problem: Problem | None) -> Json:
    """Return the form in which a failed branch appears to later steps."""
    return {"__error": problem.to_json() if problem else {}}
