"""Parallel groups: every branch settles, and a failed one is a value for the next step to handle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from contracts import Json, Step
from runtime.engine.accept import require_checks
from runtime.engine.branches import is_in
from runtime.engine.compensate import take_out
from runtime.engine.context import Run
from runtime.engine.finish import finish_whole
from runtime.engine.outcome import End, Outcome, together
from runtime.engine.parallel import settle_all
from runtime.engine.recall import error_of
from runtime.engine.scope import Scope
from runtime.engine.states import UnitState
from runtime.engine.turns import at_once_for, turns_of_steps

Settle = Callable[[Run, Step, Scope], Awaitable[Outcome]]


async def run_group(run: Run, step: Step, scope: Scope, settle: Settle) -> Outcome:
    """Carry out the branches and give `{branch: output}`, `{"__error": …}` for a failed one, null for a skipped one.

    Each branch sees what was there before the group, never another branch, and can be cancelled alone: it then failed,
    like any other. Waiting branches let the others finish.
    """
    turns = turns_of_steps(run.view, step.parallel, scope.index)
    first = sorted(step.parallel, key=lambda branch: turns[branch.id])
    jobs = [partial(_branch, run.within(branch.id), branch, scope, settle) for branch in first]
    at_once = at_once_for(step.at_once or run.settings.parallel, turns.values())
    given = await settle_all(jobs, at_once=at_once, flow=run.flow)
    ends = {branch.id: outcome for branch, outcome in zip(first, given, strict=True)}
    output: dict[str, Json] = {}
    open_ends = []
    for branch in step.parallel:
        outcome = ends[branch.id]
        if run.view.unit(branch.id, scope.index).state is UnitState.FAILED:
            output[branch.id] = error_of(outcome.problem)
        elif outcome.end in (End.DONE, End.SKIPPED):
            output[branch.id] = outcome.output
        else:
            open_ends.append(outcome)
    if open_ends:
        return together(open_ends) or open_ends[0]
    require_checks(f"step {step.id}", step.accept, scope.after(step.id, output).values)
    members = [(branch.id, (branch.id, scope.index)) for branch in step.parallel]
    return await finish_whole(run, step, scope.index, output, members)


async def _branch(run: Run, branch: Step, scope: Scope, settle: Settle) -> Outcome:
    outcome = await settle(run, branch, scope)
    cancelled, around = run.cancelled_branches(), run.branch.rpartition("/")[0]
    if outcome.end in (End.DONE, End.SKIPPED) or run.branch not in cancelled or is_in(around, cancelled):
        return outcome  # with the branch around it, it is taken out there
    return await take_out(run, branch, scope.index)
