"""One unit of work from its first attempt to its end: done, waiting, or failed with nothing left to try."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from contracts import Json, Problem, Step, StepMode
from runtime.engine.ask import ask_person
from runtime.engine.budget import enforce_budget
from runtime.engine.context import Run, failed
from runtime.engine.delegation import ChildEnded, delegate_step
from runtime.engine.direct import call_capability
from runtime.engine.finish import KEEP, Draft, finish, finish_held
from runtime.engine.journal import is_foreign
from runtime.engine.other_way import form_of
from runtime.engine.outcome import End, Outcome, Stop
from runtime.engine.pause import Pause, write_pause
from runtime.engine.questions import answer_to
from runtime.engine.recall import end_of
from runtime.engine.result import Result
from runtime.engine.retry import Next, decide
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.errors import (
    BudgetExceeded,
    BusinessRefusal,
    CapabilityFailed,
    LedgerError,
    SiliconError,
    VersionConflict,
    surely_not,
)
from runtime.ledger.port import NewEvent
from runtime.model.required import model_required
from runtime.telemetry.context import working_on


class VersionPassed(BusinessRefusal):
    """A step wrote against a version that it names itself, and the stream has gone past it."""

    code = VersionConflict.code


async def run_unit(run: Run, step: Step, scope: Scope) -> Outcome:
    """Carry out one unit within the budget; every failed attempt is in the ledger before the next one begins."""
    if run.stopping:
        return Outcome(End.STOPPED)
    try:
        enforce_budget(
            run.order.budget, run.view.usage, under_way=run.under_way, now=run.clock.now(), deadline=run.order.deadline
        )
    except BudgetExceeded as error:
        run.closing = True
        return Outcome(End.LIMIT, problem=error.problem())
    run.under_way += 1
    try:
        with working_on(step=step.id if scope.index is None else f"{step.id}[{scope.index}]"):
            return await _until_settled(run, step, scope)
    except Stop:
        return Outcome(End.STOPPED)
    finally:
        run.under_way -= 1


async def _until_settled(run: Run, step: Step, scope: Scope) -> Outcome:
    """Carry the unit out as often as it takes.

    Another one may write the same blackboard key or card first. The unit is then judged anew on what stands there now,
    however often that happens: each time somebody's commit went in, so they all come to an end. Only a unit that was
    judged anew and still names the version it named before is refused: the plan holds it to that version.
    """
    unit = run.view.unit(step.id, scope.index)
    named: dict[str, Json] = {}
    while True:
        try:
            return await _attempt(run, form_of(step, unit), unit, scope)
        except VersionConflict as conflict:
            if not is_foreign(conflict, run.journal.stream) or await run.journal.moved_on():
                raise
            stream, expected = str(conflict.facts["stream"]), conflict.facts.get("expected")
            if stream not in named or named[stream] != expected:
                named[stream] = expected
                continue
            settled = await _after_failure(run, step, unit, VersionPassed(conflict.message, **conflict.facts))
        except LedgerError:
            raise
        except SiliconError as error:
            settled = await _after_failure(run, step, unit, error)
        if settled is not None:
            return settled
        named.clear()


async def _attempt(run: Run, step: Step, unit: Unit, scope: Scope) -> Outcome:
    if unit.held is not None:
        answer = await answer_to(run, unit)
        return (
            Outcome(End.WAITING)
            if answer is None
            else await finish_held(run, step, unit, scope, keep=answer.value == KEEP)
        )
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
        case StepMode.REACT:
            raise model_required(step.id)
        case StepMode.PARALLEL:
            raise CapabilityFailed(f"Step {step.id} is a group and cannot stand in for a single call.")


async def _after_failure(run: Run, step: Step, unit: Unit, error: SiliconError) -> Outcome | None:
    """Record the failure and what follows from it; return the outcome when nothing does."""
    child = error if isinstance(error, ChildEnded) else None
    receipt = unit.held if unit.held is not None and unit.held.happened else None
    problem: Problem = error.problem()
    in_doubt = unit.intent is not None and unit.intent.open and not surely_not(problem.facts)
    decision = decide(
        problem, step=step, unit=unit, settings=run.settings, plan_revisions=run.view.revisions,
        delegated=child is not None, patience_s=_patience_s(run),
        happened=in_doubt or receipt is not None or (child is not None and child.happened),
    )  # fmt: skip
    if decision.next_try_s is not None:
        problem = _put_off(problem, run.clock.now() + timedelta(seconds=decision.next_try_s))
    more = _facts_of(receipt, child)
    if decision.next is Next.GIVE_UP:
        await run.journal.write(failed(step, unit.index, problem, final=True, **more))
        return Outcome(end_of(problem), problem=problem)
    events = [failed(step, unit.index, problem, final=False, **more)]
    if decision.next is Next.REVISE:
        events.append(_revision(run, step, unit, problem, decision.change))
    await run.journal.write(*events)
    if decision.wait_s:
        await run.pause(decision.wait_s)
    return None


def _patience_s(run: Run) -> float:
    """Return how long the order can still wait for anything."""
    order, left = run.order, [math.inf]
    if order.deadline is not None:
        left.append((order.deadline - run.clock.now()).total_seconds())
    if order.budget.seconds is not None:
        left.append(order.budget.seconds - run.view.usage.seconds)
    return min(left)


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
        facts["usage"] = child.report.usage.to_json()
        facts["sealed"] = list(child.report.evidence)
        facts["happened"] = child.happened
    return facts


def _revision(run: Run, step: Step, unit: Unit, problem: Problem, change: str | None) -> NewEvent:
    return NewEvent(
        "plan.revised",
        {
            "revision": run.view.revisions + 1,
            "step": step.id,
            "index": unit.index,
            "because": problem.message,
            "change": change,
        },
    )
