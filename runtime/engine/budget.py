"""Limits of an order, enforced before a step begins."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from contracts import Budget, Usage
from runtime.errors import BudgetExceeded


def enforce_budget(budget: Budget, spent: Usage, *, under_way: int, now: datetime, deadline: datetime | None) -> None:
    """Return when one more step may begin.

    Args:
        under_way: steps that have begun and are not in `spent` yet; each will count as one.

    Raises:
        BudgetExceeded: a limit is reached; the facts name it.
    """
    for limit, most, so_far in _reached(budget, spent, under_way):
        raise BudgetExceeded(
            f"The budget of {limit} is used up ({so_far} of {most}). The finished steps are kept; "
            f"a larger budget lets the rest go on from here.",
            limit=limit, most=most, spent=so_far,
        )  # fmt: skip
    if deadline is not None and now >= deadline:
        raise BudgetExceeded(
            f"The deadline {deadline:%Y-%m-%d %H:%M} UTC has passed. The finished steps are kept.",
            limit="deadline", most=deadline.isoformat(), spent=now.isoformat(),
        )  # fmt: skip


def _reached(budget: Budget, spent: Usage, under_way: int) -> Iterator[tuple[str, str, str]]:
    steps = spent.steps + under_way
    if budget.steps is not None and steps >= budget.steps:
        yield "steps", str(budget.steps), str(steps)
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        yield "seconds", f"{budget.seconds:g}", f"{spent.seconds:.3f}"
    tokens = spent.tokens_in + spent.tokens_out
    if budget.tokens is not None and tokens >= budget.tokens:
        yield "tokens", str(budget.tokens), str(tokens)
    if budget.money is not None:
        for money in spent.money:
            if money.currency == budget.money.currency and money.amount >= budget.money.amount:
                yield "money", str(budget.money), str(money)
