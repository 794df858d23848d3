"""The shares of a budget that a plan gives its steps: what surely runs must not be promised more than there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from contracts import Budget, Limit, PlanDefinition, Step
from runtime.engine.amounts import amounts_of, shown
from runtime.engine.fault import Path, PlanFault
from runtime.engine.shares import certain_shares


def share_faults(
    plan: PlanDefinition, *, budget: Budget, plans: Mapping[str, PlanDefinition | None]
) -> Iterator[PlanFault]:
    """Yield every fault of the shares.

    Args:
        budget: what the organisation allows one execution.
        plans: the plan of each skill; None for one that could not be read.
    """
    places = dict(_places(plan.steps, ("steps",)))
    for step in plan.all_steps():
        if step.budget is not None:
            yield from _share_faults(step, step.budget, (*places[step.id], "budget"), budget, plans)
    yield from _sum_faults(plan, budget, places)


def _share_faults(
    step: Step, share: Budget, place: Path, budget: Budget, plans: Mapping[str, PlanDefinition | None]
) -> Iterator[PlanFault]:
    if step.parallel:
        yield PlanFault(place, f"`{step.id}` is a group; a share is given to its branches.", "Move it to them.")
        return
    if share.money and budget.money and share.money.currency != budget.money.currency:
        yield PlanFault(
            (*place, "money"), f"The share is {share.money}, and the organisation's budget is {budget.money}.",
            f"Give it in {budget.money.currency}.",
        )  # fmt: skip
        return
    below = plans.get(step.skill) if step.skill is not None else None
    for limit, total in _totals(below).items() if below is not None else ():
        most = amounts_of(share).get(limit)
        if most is not None and total > most:
            yield PlanFault(
                (*place, limit.value),
                f"The skill `{step.skill}` promises its steps {_shown(limit, total, share)}, more than the "
                f"{_shown(limit, most, share)} that `{step.id}` gives it.",
                "Give it more, or its steps less.",
            )


def _sum_faults(plan: PlanDefinition, budget: Budget, places: Mapping[str, Path]) -> Iterator[PlanFault]:
    totals = _totals(plan)
    for limit, most in amounts_of(budget).items():
        if totals.get(limit, Decimal(0)) <= most:
            continue
        steps = [step for step in certain_shares(plan) if limit in amounts_of(step.budget or Budget())]
        names = ", ".join(f"`{step.id}`" for step in steps)
        yield PlanFault(
            (*places[steps[-1].id], "budget", limit.value),
            f"{names} together get {_shown(limit, totals[limit], budget)}, and `budget` in org.yaml allows "
            f"{_shown(limit, most, budget)}.",
            "Give them less, or the organisation more.",
        )


def _totals(plan: PlanDefinition) -> dict[Limit, Decimal]:
    """Return what the plan promises to steps that surely run, branches of groups included."""
    totals: dict[Limit, Decimal] = {}
    for step in certain_shares(plan):
        for limit, some in amounts_of(step.budget or Budget()).items():
            totals[limit] = totals.get(limit, Decimal(0)) + some
    return totals


def _places(steps: tuple[Step, ...], path: Path) -> Iterator[tuple[str, Path]]:
    for number, step in enumerate(steps):
        yield step.id, (*path, number)
        yield from _places(step.parallel, (*path, number, "parallel"))


def _shown(limit: Limit, amount: Decimal, budget: Budget) -> str:
    currency = budget.money.currency if budget.money is not None else None
    return f"{shown(limit, amount, currency)}{'' if limit is Limit.MONEY else f' {limit.value}'}"
