"""The shares of its budget that a plan keeps for steps: told beforehand, so that nobody else spends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from contracts import Limit, PlanDefinition, Step
from runtime.engine.amounts import Amounts, amounts_of
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView


def certain_shares(plan: PlanDefinition) -> Iterator[Step]:
    """Yield the steps with a share that surely run: without a condition, and not over a list that may be empty."""
    return (step for step in _certain(plan.steps) if step.budget is not None)


def promised(plan: PlanDefinition, view: OrderView, step: str, granted: Callable[[str], bool]) -> Amounts:
    """Return what is kept for steps that surely run and have not begun, apart from this one.

    Args:
        granted: whether an order below is granted its share already, though no event tells it yet.
    """
    kept: dict[Limit, Decimal] = {}
    for other in certain_shares(plan):
        if other.id == step or other.budget is None or granted(other.id):
            continue
        if view.state_of(other.id) is UnitState.PENDING:
            for limit, some in amounts_of(other.budget).items():
                kept[limit] = kept.get(limit, Decimal(0)) + some
    return kept


def _certain(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        if step.when is None and step.for_each is None:
            yield step
            yield from _certain(step.parallel)
