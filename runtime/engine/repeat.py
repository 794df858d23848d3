"""Repetitions: once for each item, or until a check holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from contracts import ErrorCategory, Json, Step
from runtime.bindings import Reference, references, resolve
from runtime.engine.context import Run
from runtime.engine.finish import finish_whole
from runtime.engine.outcome import End, Outcome, together
from runtime.engine.parallel import settle_all
from runtime.engine.recall import read_steps, recall_one
from runtime.engine.scope import Scope, holds, names_read
from runtime.engine.states import UnitState
from runtime.engine.turns import Turn, at_once_for, turns_of_repetitions
from runtime.engine.view import OrderView
from runtime.errors import InvalidArguments, SiliconError

Body = Callable[[Run, Step, Scope], Awaitable[Outcome]]


class RepetitionLimit(SiliconError):
    """A bounded repetition ended before its check held."""

    code = "REPETITION_LIMIT"
    category = ErrorCategory.BUSINESS


async def for_each(run: Run, step: Step, scope: Scope, body: Body) -> Outcome:
    """Carry the step out once for each item, at most `at_once` at a time, and give the outputs in the items' order.

    When one fails, those that run settle, no other starts, and the step fails with the first failure in order.
    """
    source = step.for_each or ""
    items = resolve(source, scope.values)
    if not isinstance(items, list):
        raise InvalidArguments(f"for_each of step {step.id} needs a list; {source} is {type(items).__name__}.")
    read = references(source)
    closed = run.view.part_failed(step.id)

    async def one(index: int, item: Json) -> Outcome:
        nonlocal closed
        if closed and run.view.state((step.id, index)) is UnitState.PENDING:
            return Outcome(End.STOPPED)
        outcome = await body(run, step, scope.repeated(index, {"item": item}, items=_only(read)))
        closed = closed or outcome.closes
        return outcome

    left = _not_done(run.view, step.id, len(items))
    turns = turns_of_repetitions(run.view, step)
    left.sort(key=lambda index: turns.get(index, Turn.NEW))
    jobs = [partial(one, index, items[index]) for index in left]
    at_once = at_once_for(step.at_once or run.settings.parallel, turns.values())
    outcomes = await settle_all(jobs, at_once=at_once, flow=run.flow)
    given = dict(zip(left, outcomes, strict=True))
    unfinished = together([given[index] for index in sorted(given)])
    if unfinished is not None:
        return unfinished
    if len(given) < len(items):
        await read_steps(run.view, [step])
    output = [
        given[index].output if index in given else await recall_one(run.view, run.blobs, step, index)
        for index in range(len(items))
    ]
    members = [(str(index), (step.id, index)) for index in range(len(items))]
    return await finish_whole(run, step, None, output, members)


def _not_done(view: OrderView, step: str, count: int) -> list[int]:
    settled = view.settled  # asked first: of a long order that goes on, nearly all are there
    return [
        index
        for index in range(count)
        if (step, index) not in settled and view.state((step, index)) is not UnitState.DONE
    ]


async def until(run: Run, step: Step, scope: Scope, body: Body) -> Outcome:
    """Carry the step out until its check holds, and give the last output; it sees its previous one under its own id.

    Reaching the bound is a limit: the order ends with what there is, and says so.
    """
    rule = step.until
    assert rule is not None
    outcome = Outcome(End.DONE)
    for index in range(rule.most):
        outcome = await body(run, step, scope.repeated(index, {step.id: outcome.output}))
        if outcome.end is not End.DONE:
            return outcome
        if holds(rule.check, scope.repeated(index, {}).after(step.id, outcome.output).values):
            return await finish_whole(run, step, None, outcome.output, [(str(index), (step.id, index))])
    problem = RepetitionLimit(
        f"Step {step.id} ran {rule.most} times and `{rule.check}` still does not hold. What it gave is kept.",
        step=step.id, most=rule.most, check=rule.check,
    ).problem()  # fmt: skip
    await run.give_up(step, None, problem)
    return Outcome(End.LIMIT, problem=problem)


async def scope_of(run: Run, step: Step, index: int | None) -> Scope:
    """Return the scope in which one unit of the plan is carried out, its `item` included."""
    repeated = next(
        whole for whole in run.order.plan.all_steps() if whole is step or any(part is step for part in whole.parallel)
    )
    source = step.for_each or repeated.for_each
    await run.outputs.fetch(names_read(repeated) | names_read(step))
    if index is None:
        return run.scope()
    if source is None:
        return run.scope().repeated(index, {})
    items = resolve(source, run.scope().values)
    item = items[index] if isinstance(items, list) else None
    return run.scope().repeated(index, {"item": item}, items=_only(references(source)))


def _only(read: list[Reference]) -> Reference | None:
    """Return the one reference a repetition goes over, which the origins of its items are told by."""
    return read[0] if len(read) == 1 else None
