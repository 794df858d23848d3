"""Parallel groups: every branch settles, and a failed one is a value for the next step to handle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from contracts import Json, Step
from runtime.engine.accept import require_checks
from runtime.engine.context import Run
from runtime.engine.finish import finish_whole
from runtime.engine.outcome import End, Outcome, together
from runtime.engine.parallel import settle_all
from runtime.engine.recall import error_of
from runtime.engine.scope import Scope
from runtime.engine.states import UnitState

Settle = Callable[[Run, Step, Scope], Awaitable[Outcome]]


async def run_group(run: Run, step: Step, scope: Scope, settle: Settle) -> Outcome:
    """Carry out the branches and give `{branch: output}`, `{"__error": …}` for a failed one, null for a skipped one.

    Each branch sees what was there before the group, never another branch. Waiting branches let the others finish.
    """
    jobs = [partial(settle, run, branch, scope) for branch in step.parallel]
    outcomes = await settle_all(jobs, at_once=step.at_once or run.settings.parallel)
    output: dict[str, Json] = {}
    open_ends = []
    for branch, outcome in zip(step.parallel, outcomes, strict=True):
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
