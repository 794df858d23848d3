"""Outputs of finished steps, read back from the order's stream and the blob store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from contracts import Json, Problem, Step
from runtime.engine.outcome import End, Outcome
from runtime.engine.result import Result
from runtime.engine.states import UnitState
from runtime.engine.view import UNREAD, OrderView, UnitKey
from runtime.ledger.port import Blobs


async def read_units(view: OrderView, keys: Iterable[UnitKey]) -> None:
    """Bring in the results of these units where an earlier run settled them; the others are there already."""
    unread = {view.settled[key]: key for key in keys if key in view.settled and view.unit(*key).result is UNREAD}
    if not unread:
        return
    assert view.read_events is not None
    for event in await view.read_events(sorted(unread)):
        key = unread.pop(event.stream_version)
        view.unit(*key).result = None if event.data is None else Result.from_data(event.data, event.time)
    for key in unread.values():  # erased
        view.unit(*key).result = None


async def read_steps(view: OrderView, steps: Iterable[Step]) -> None:
    """Bring in the results of these steps, with all their repetitions and branches."""
    names = {inner.id for step in steps for inner in _with_branches(step)}
    await read_units(view, [key for key in view.settled if key[0] in names])


async def read_artifacts(view: OrderView) -> None:
    """Bring in which files the finished steps made, where an earlier run finished them."""
    unread = [version for version, artifacts in view.artifacts.items() if artifacts is None]
    if unread:
        assert view.read_events is not None
        for event in await view.read_events(sorted(unread)):
            made = Result.from_data(event.data, event.time).artifacts if event.data is not None else ()
            view.artifacts[event.stream_version] = made


def _with_branches(step: Step) -> Iterator[Step]:
    yield step
    for branch in step.parallel:
        yield from _with_branches(branch)


async def recall(view: OrderView, blobs: Blobs, step: Step, index: int | None = None) -> Json:
    """Return the output of a settled step: null when it was skipped, `{"__error": …}` when it failed.

    A repetition gives the list of its outputs in their order, `until` its last one, a group `{branch: output}`.
    """
    if index is None:
        await read_steps(view, [step])
    else:
        await read_units(view, [(inner.id, index) for inner in _with_branches(step)])
    return await _recall(view, blobs, step, index)


async def recall_one(view: OrderView, blobs: Blobs, step: Step, index: int | None) -> Json:
    """Return the output of one unit, the repetitions of its step left apart."""
    await read_units(view, [(inner.id, index) for inner in _with_branches(step)])
    return await _recall_one(view, blobs, step, index)


async def _recall(view: OrderView, blobs: Blobs, step: Step, index: int | None) -> Json:
    result = view.unit(step.id, index).result
    if index is None and result is not None and (step.for_each or step.until):
        parts = [await _recall_one(view, blobs, step, int(member)) for member in result.members]
        return parts if step.for_each else parts[-1]
    return await _recall_one(view, blobs, step, index)


async def _recall_one(view: OrderView, blobs: Blobs, step: Step, index: int | None) -> Json:
    unit = view.unit(step.id, index)
    if unit.state is UnitState.FAILED:
        return error_of(unit.problem)
    if unit.result is None:
        return None
    if step.parallel:
        return {branch.id: await _recall(view, blobs, branch, index) for branch in step.parallel}
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


LIMITS = ("BUDGET_EXCEEDED", "REPETITION_LIMIT", "ITERATION_LIMIT")


def error_of(problem: Problem | None) -> Json:
    """Return the form in which a failed branch appears to later steps."""
    return {"__error": problem.to_json() if problem else {}}
