"""What an order that stopped at a limit asks for: what it has done, what is missing, and how much more that takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from contracts import Budget, Extension, Limit, Problem, StatusReport, Step, StepLeft
from runtime.bindings import resolve
from runtime.engine.amounts import SMALLEST, Amounts, amounts_of, budget_of, rounded_up, spent_of
from runtime.engine.context import Run
from runtime.engine.scope import names_read
from runtime.engine.states import UnitState
from runtime.errors import InvalidArguments

_BY_CODE = {"ITERATION_LIMIT": Limit.ITERATIONS, "REPETITION_LIMIT": Limit.REPETITIONS}
_OVER = (UnitState.DONE, UnitState.SKIPPED)


async def extension_for(run: Run, problem: Problem) -> Extension:
    """Return what the order needs to go on after `problem`, the limit it stopped at.

    How much is asked for is what is declared where a step declares it (its price), what an order below asks for where
    one does, and elsewhere what the work that is done took on average.
    """
    plan, budget = run.order.plan, run.order.budget
    missing = [await _left(run, step) for step in plan.steps if run.view.state_of(step.id) not in _OVER]
    spent = spent_of(run.view.usage, budget)
    free = {limit: most - spent[limit] for limit, most in amounts_of(budget).items()}
    least = _more(needs_of(problem), free)
    shared = "budget" in problem.facts  # one that others draw on too: no larger budget of the order's own helps
    asked = _more(_estimate(run, missing, spent), free)
    below, name = "order_id" in problem.facts, problem.facts.get("limit")
    if not least and name in free and not shared and not (below and asked):
        # Others that stopped with it, or beside it below, had set the rest aside and have given it back since: it is
        # enough by now, and whoever asks for nothing would never be let go on.
        least = {Limit(str(name)): SMALLEST[Limit(str(name))]}
    asked |= {limit: max(more, asked.get(limit, more)) for limit, more in least.items()}
    currency = budget.money.currency if budget.money else None
    return Extension(
        limit=_BY_CODE.get(problem.code) or Limit(str(problem.facts.get("limit", Limit.STEPS.value))),
        had=budget,
        least=budget_of(least, currency),
        asked=budget_of(asked, currency),
        done=tuple(step.id for step in plan.steps if run.view.state_of(step.id) in _OVER),
        missing=tuple(missing),
    )


def remaining(report: StatusReport, more: Budget) -> Budget:
    """Return what an order that stopped at a limit may need from now on, when it is to have `more` than it had.

    What it had and did not spend is free again above, so it counts among what has to be found there.
    """
    assert report.asks is not None
    had, spent = amounts_of(report.asks.had), spent_of(report.usage, report.asks.had)
    currency = report.asks.had.money.currency if report.asks.had.money else None
    extra = amounts_of(more)
    return budget_of(
        {limit: max(had[limit] - spent[limit], some * 0) + some for limit, some in extra.items()}, currency
    )


def needs_of(problem: Problem, name: str = "needs") -> Amounts:
    """Return what had to be free for what did not begin, as the problem of a limit tells it."""
    told = problem.facts.get(name)
    return amounts_of(Budget.read(told)) if isinstance(told, Mapping) else {}


def _more(needed: Amounts, free: Amounts) -> dict[Limit, Decimal]:
    """Return by how much each of these limits has to be raised."""
    return {
        limit: rounded_up(limit, some - free[limit])
        for limit, some in needed.items()
        if limit in free and some > free[limit]
    }


def _estimate(run: Run, missing: Iterable[StepLeft], spent: Amounts) -> dict[Limit, Decimal]:
    steps = {step.id: step for step in run.order.plan.all_steps()}
    done = max(1, sum(_runs_done(run, step) for step in run.order.plan.steps))
    total = dict.fromkeys(spent, Decimal(0))
    for left in missing:
        step, count = steps[left.step], left.missing or 1
        capped = [
            unit.problem
            for unit in run.view.units.values()
            if unit.step in _names(step) and unit.problem and not (step.for_each and unit.index is None)
        ]
        below = [asked for problem in capped if (asked := needs_of(problem, "asked"))]
        for limit, some in spent.items():
            each = _each(run, step, limit, some / done)
            told = sum((asked.get(limit, Decimal(0)) for asked in below), Decimal(0))
            total[limit] += told + each * max(0, count - len(below))
    return total


def _each(run: Run, step: Step, limit: Limit, average: Decimal) -> Decimal:
    """Return what one run of the step takes, as far as anybody can tell."""
    if limit is Limit.STEPS:
        return max(average.to_integral_value(rounding="ROUND_CEILING"), Decimal(1))
    return average


def _runs_done(run: Run, step: Step) -> int:
    """Return how many runs of a step are done, repetitions and branches counted one by one."""
    if step.parallel:
        return sum(_runs_done(run, branch) for branch in step.parallel)
    repeated = run.view.tallies.get(step.id)
    return repeated[UnitState.DONE] if repeated else int(run.view.state((step.id, None)) is UnitState.DONE)


def _names(step: Step) -> set[str]:
    return {step.id}.union(*(_names(branch) for branch in step.parallel))


async def _left(run: Run, step: Step) -> StepLeft:
    done = _runs_done(run, step)
    if step.for_each is not None:
        count = await _items(run, step)
        return StepLeft(step=step.id, done=done, missing=None if count is None else max(count - done, 0) or None)
    if step.until is not None:
        return StepLeft(step=step.id, done=done)
    if step.parallel:
        over = sum(run.view.state_of(branch.id) in _OVER for branch in step.parallel)
        return StepLeft(step=step.id, done=over, missing=len(step.parallel) - over or None)
    return StepLeft(step=step.id, missing=1)


async def _items(run: Run, step: Step) -> int | None:
    """Return how many repetitions a step will have, None while what it goes over is not there."""
    try:
        await run.outputs.fetch(names_read(step))
        items = resolve(step.for_each, run.scope().values)
    except InvalidArguments:
        return None
    return len(items) if isinstance(items, list) else None
