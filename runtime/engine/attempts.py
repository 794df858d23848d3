"""One unit of work from its first attempt to its end: done, waiting, or failed with nothing left to try."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from contracts import Problem, Step, StepMode
from runtime.engine.accept import Judged
from runtime.engine.ask import ask_person
from runtime.engine.budget import enforce_deadline
from runtime.engine.conflict import Conflicts
from runtime.engine.context import Run, failed
from runtime.engine.costs import lost, needed_for
from runtime.engine.delegation import ChildEnded, delegate_step
from runtime.engine.denied import denied_at
from runtime.engine.direct import call_capability, put_to_people
from runtime.engine.finish import KEEP, Draft, finish, finish_held
from runtime.engine.other_way import Way, form_of, next_way
from runtime.engine.outcome import End, Outcome, Stop
from runtime.engine.pause import Pause, write_pause
from runtime.engine.questions import answer_to
from runtime.engine.react.loop import reason
from runtime.engine.recall import end_of
from runtime.engine.refused import refusals
from runtime.engine.result import Result
from runtime.engine.retry import Next, decide
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.engine.withdraw import settle_calls
from runtime.errors import (
    AccessDenied,
    BudgetExceeded,
    CapabilityFailed,
    LedgerError,
    SiliconError,
    VersionConflict,
    surely_not,
)
from runtime.ledger.port import NewEvent
from runtime.telemetry.context import working_on


async def run_unit(run: Run, step: Step, scope: Scope) -> Outcome:
    """Carry out one unit within the budget; every failed attempt is in the ledger before the next one begins."""
    unit = run.view.unit(step.id, scope.index)
    if run.stopping and not run.must_go_on(step, scope.index):
        run.end(unit)
        return Outcome(End.STOPPED)
    try:
        enforce_deadline(run.order.deadline, run.clock.now())
        if run.account.limits and step.mode is not StepMode.EMPLOYEE:
            await run.account.take(unit, needed_for(run, form_of(step, unit)))
    except BudgetExceeded as error:
        run.end(unit)
        run.close()
        return Outcome(End.LIMIT, problem=error.problem())
    except Stop:
        run.end(unit)
        return Outcome(End.STOPPED)
    try:
        with working_on(step=step.id if scope.index is None else f"{step.id}[{scope.index}]"):
            async with run.in_progress(step):
                return await _until_settled(run, step, scope)
    except Stop:
        return Outcome(End.STOPPED)
    finally:
        run.end(unit)


async def _until_settled(run: Run, step: Step, scope: Scope) -> Outcome:
    """Carry the unit out as often as it takes."""
    unit = run.view.unit(step.id, scope.index)
    conflicts = Conflicts(run.journal)
    while True:
        try:
            return await _attempt(run, form_of(step, unit), unit, scope)
        except VersionConflict as conflict:
            refusal = await conflicts.refusal(conflict)
            if refusal is None:
                continue
            settled = await _after_failure(run, step, unit, scope, refusal)
        except LedgerError:
            raise
        except BudgetExceeded as error:  # nothing was begun: the step goes on with a larger budget
            run.close()
            return Outcome(End.LIMIT, problem=error.problem())
        except SiliconError as error:
            settled = await _after_failure(run, step, unit, scope, error)
        if settled is not None:
            return settled
        conflicts = Conflicts(run.journal)


async def _attempt(run: Run, step: Step, unit: Unit, scope: Scope) -> Outcome:
    if unit.held is not None:
        answer = await answer_to(run, unit)
        return (
            Outcome(End.WAITING)
            if answer is None
            else await finish_held(run, step, unit, scope, keep=answer.value == KEEP)
        )
    if step.mode is StepMode.REACT:
        return await reason(run, step, unit, scope)
    given = await _do(run, step, unit, scope)
    if isinstance(given, Pause):
        return await write_pause(run, step, unit, given)
    return await finish(run, step, unit, scope, given)


async def _do(run: Run, step: Step, unit: Unit, scope: Scope) -> Draft | Pause:
    match step.mode:
        case StepMode.DIRECT:
            return await call_capability(run, step, unit, scope)
        case StepMode.EMPLOYEE:
            return await delegate_step(run, step, unit, scope)
        case StepMode.ASK:
            return await ask_person(run, step, unit, scope)
        case StepMode.PARALLEL | StepMode.REACT:
            raise CapabilityFailed(f"Step {step.id} is no single call and cannot stand in for one.")


async def _after_failure(run: Run, step: Step, unit: Unit, scope: Scope, error: SiliconError) -> Outcome | None:
    """Record the failure and what follows from it; return the outcome when nothing does."""
    child = error if isinstance(error, ChildEnded) else None
    receipt = unit.held if unit.held is not None and unit.held.happened else None
    problem: Problem = error.problem()
    in_doubt = unit.intent is not None and unit.intent.open and not surely_not(problem.facts)
    way = next_way(step, unit, problem, scope)
    decision = decide(
        problem, step=step, unit=unit, settings=run.settings, plan_revisions=run.view.revisions,
        way=way, delegated=child is not None, spent=step.mode is StepMode.REACT, patience_s=run.patience_s,
        capped=child is not None and problem.code == BudgetExceeded.code,
        happened=in_doubt or receipt is not None or (child is not None and child.happened)
        or (unit.react is not None and unit.react.changed_the_world),
    )  # fmt: skip
    if decision.next_try_s is not None:
        problem = _put_off(problem, run.clock.now() + timedelta(seconds=decision.next_try_s))
    more, blobs = _facts_of(receipt, child), []
    if decision.next is not Next.RETRY:
        await settle_calls(run, unit)
    if decision.next is not Next.RETRY and receipt is None and not surely_not(problem.facts):
        spent = lost(unit)
        if spent is not None:
            more["usage"] = spent.to_json()
    if isinstance(error, Judged) and step.mode is StepMode.DIRECT:
        more["given_sha256"], blob = run.journal.blob_of(error.given)
        blobs.append(blob)
    if isinstance(error, AccessDenied) and decision.next is Next.GIVE_UP and not in_doubt and not run.stopping:
        form = form_of(step, unit)
        async with run.flow.asking:
            pause = await put_to_people(run, form, unit, scope, error)
            if pause is not None:
                noted = failed(step, unit.index, denied_at(problem, form.use), final=False, **more)
                return await write_pause(run, step, unit, pause, noted)
    closes = decision.next is Next.GIVE_UP and run.branch == run.order.branch  # then nothing begins any more
    narrowed = [] if closes else run.slow_down(problem)
    forbidden = refusals(error, step.id, unit.index)
    if decision.next is Next.GIVE_UP:
        end = failed(step, unit.index, problem, final=True, **more)
        await run.journal.write(*forbidden, end, *narrowed, blobs=blobs)
        return Outcome(end_of(problem), problem=problem)
    events = [*forbidden, failed(step, unit.index, problem, final=False, **more), *narrowed]
    if decision.next is Next.REVISE:
        taken = way if decision.change != "again" else None
        events.append(_revision(run, step, unit, problem, change=decision.change, way=taken))
        if taken is not None and taken.skip:
            why = f"it could not be done, and its other way is to go on without it: {problem.message}"
            events.append(NewEvent("step.skipped", {"step": step.id, "index": unit.index, "why": why}))
            await run.journal.write(*events, blobs=blobs)
            return Outcome(End.SKIPPED)
    await run.journal.write(*events, blobs=blobs)
    if decision.wait_s:
        await run.pause(decision.wait_s)
    return None


def _put_off(problem: Problem, moment: datetime) -> Problem:
    """Return the problem with the moment from which on the service may be asked again."""
    message = (
        f"{problem.message} That is longer than a step waits. From {moment:%Y-%m-%d %H:%M:%S} UTC on it may be asked "
        f"again; `silicon resume` goes on from here."
    )
    return problem.model_copy(
        update={"message": message, "facts": {**problem.facts, "next_try_at": moment.isoformat()}}
    )


def _facts_of(receipt: Result | None, child: ChildEnded | None) -> dict[str, Any]:
    """Return what a failure leaves beside its reason: the receipt of an effect, what an order below spent."""
    facts: dict[str, Any] = {}
    if receipt is not None:
        facts["result"] = receipt.to_data()
    if child is not None:
        facts["usage"] = child.spent.to_json()
        facts["sealed"] = list(child.report.evidence)
        facts["happened"] = child.happened
    return facts


def _revision(
    run: Run, step: Step, unit: Unit, problem: Problem, *, change: str | None, way: Way | None
) -> NewEvent:  # fmt: skip
    data = {
        "revision": run.view.revisions + 1,
        "step": step.id,
        "index": unit.index,
        "because": problem.message,
        "change": change,
    }
    return NewEvent("plan.revised", data if way is None else {**data, "way": way.number})
