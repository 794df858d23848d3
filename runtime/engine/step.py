"""One step of a plan: skipped, remembered, repeated, a group, or carried out."""

from __future__ import annotations

from contracts import Json, Step
from runtime.bindings import BindingFault, Reference, references
from runtime.engine.accept import NotAccepted
from runtime.engine.attempts import run_unit
from runtime.engine.branches import steps_in
from runtime.engine.context import Run
from runtime.engine.graph import bound_values
from runtime.engine.group import run_group
from runtime.engine.outcome import End, Outcome
from runtime.engine.recall import end_of, remembered
from runtime.engine.repeat import for_each, until
from runtime.engine.scope import Scope, holds, names_read
from runtime.engine.states import UnitState
from runtime.errors import InvalidArguments, LedgerError, SiliconError
from runtime.expressions import ExpressionFailed, names_in
from runtime.ledger.port import NewEvent
from runtime.once import once_for_each


async def settle_step(run: Run, step: Step, scope: Scope) -> Outcome:
    """Return how the step ends; what the ledger says about it is not done again."""
    try:
        return await _settled(run, step, scope)
    finally:
        parts = (part.id for part in steps_in(step))
        run.account.passed_over(parts, scope.index, comes_back=run.cancelled())


async def _settled(run: Run, step: Step, scope: Scope) -> Outcome:
    known = await remembered(run.view, run.blobs, step, scope.index, one=False)
    if known is not None:
        return known
    if run.stopping and not run.must_go_on(step, scope.index):
        return Outcome(End.STOPPED)
    try:
        await run.outputs.fetch(names_read(step))
        why = _reason_to_skip(run, step, scope)
        if why is not None:
            event = NewEvent("step.skipped", {"step": step.id, "index": scope.index, "why": why})
            await run.journal.write(event)
            return Outcome(End.SKIPPED)
        return await _carry_out(run, step, scope)
    except LedgerError:
        raise
    except SiliconError as error:
        problem = error.problem()
        await run.give_up(step, scope.index, problem)
        return Outcome(end_of(problem), problem=problem)


async def _carry_out(run: Run, step: Step, scope: Scope) -> Outcome:
    if step.for_each is None and step.until is None:
        return await _body(run, step, scope)
    if scope.index is not None:
        raise InvalidArguments(
            f"Step {step.id} repeats inside a repeated group; give the inner one a skill of its own."
        )
    repeat = until if step.for_each is None else for_each
    outcome = await repeat(run, step, scope, _body)
    whole = run.view.unit(step.id)
    if outcome.end is End.SKIPPED:  # a repetition that could not be done, and whose other way is to go on without it
        last = run.view.repetitions(step.id)[-1]
        await run.journal.write(NewEvent("step.skipped", {"step": step.id, "index": None, "why": last.why}))
    if outcome.problem is not None and run.view.part_failed(step.id) and not whole.state.settled:
        await run.give_up(step, None, outcome.problem)
    return outcome


async def _body(run: Run, step: Step, scope: Scope) -> Outcome:
    known = await remembered(run.view, run.blobs, step, scope.index, one=True)
    if known is not None:
        return known
    if not step.parallel:
        return await run_unit(run, step, scope)
    try:
        return await run_group(run, step, scope, settle_step)
    except NotAccepted as error:
        await run.give_up(step, scope.index, error.problem())
        return Outcome(End.FAILED, problem=error.problem())


def _reason_to_skip(run: Run, step: Step, scope: Scope) -> str | None:
    if step.when is not None and not _condition_holds(run, step.when, scope):
        return f"`{step.when}` does not hold"
    for reference in _read_by(step):
        skipped = reference.root if reference.path else None
        if step.for_each is not None and reference.text in step.for_each:
            skipped = reference.root
        if skipped is not None and run.view.state_of(skipped) is UnitState.SKIPPED:
            return f"it needs {skipped}, which was skipped: {run.view.unit(skipped).why}"
    return None


def _condition_holds(run: Run, condition: str, scope: Scope) -> bool:
    try:
        return holds(condition, scope.values)
    except ExpressionFailed:
        roots = {path[0] for path in names_in(condition)}
        if any(run.view.state_of(root) is UnitState.SKIPPED for root in roots):
            return False  # what it asks about was skipped
        raise


@once_for_each(1_024)
def _read_by(step: Step) -> list[Reference]:
    always: list[Json] = list(bound_values(step.model_copy(update={"otherwise": None})))
    try:
        return references(always)
    except BindingFault as fault:
        raise InvalidArguments(f"A binding of step {step.id} is no path: {fault}") from fault
