"""A limit that was reached: what it was, what is needed, and how the rest goes on."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from contracts import Budget, Limit, Usage
from runtime.engine.amounts import SMALLEST, amounts_of, budget_of, shown, spent_of
from runtime.errors import BudgetExceeded


def enforce_deadline(deadline: datetime | None, now: datetime) -> None:
    """Return while the deadline has not passed; raise BudgetExceeded afterwards."""
    if deadline is not None and now >= deadline:
        raise deadline_passed(deadline, now)


def deadline_passed(deadline: datetime, now: datetime) -> BudgetExceeded:
    """Return the error of an order whose time is over."""
    return BudgetExceeded(
        f"The deadline {deadline:%Y-%m-%d %H:%M} UTC has passed. The finished steps are kept.",
        limit=Limit.DEADLINE.value, most=deadline.isoformat(), spent=now.isoformat(),
    )  # fmt: skip


def enforce_budget(budget: Budget, spent: Usage) -> None:
    """Return while something of every limit is left; raise BudgetExceeded otherwise."""
    used = spent_of(spent, budget)
    for limit, most in amounts_of(budget).items():
        if used[limit] >= most:
            raise exceeded(budget, spent, limit, needed=SMALLEST[limit], free=Decimal(0))


def exceeded(
    budget: Budget, spent: Usage, limit: Limit, *, needed: Decimal, free: Decimal, step: str = ""
) -> BudgetExceeded:  # fmt: skip
    """Return the error of something that takes more of a limit than is free, whose facts tell how much it takes.

    Args:
        step: whose share of the order's budget this one is; empty for the whole.
    """
    currency = budget.money.currency if budget.money else None
    most, used = amounts_of(budget)[limit], spent_of(spent, budget)[limit]
    whose = f"The budget that the plan gives step {step}" if step else "The budget"
    more = (
        f"more needs a larger `budget` of step {step} in the plan, and a new run."
        if step
        else f"with a larger budget the rest goes on from here: `silicon resume` takes --budget-{limit.value}."
    )
    told = {"most": shown(limit, most, currency), "spent": shown(limit, used, currency)}
    if free <= 0 and used >= most:
        why = f"{whose} of {limit.value} is used up ({told['spent']} of {told['most']})."
    else:
        why = (
            f"{whose} of {limit.value} does not reach: up to {shown(limit, needed, currency)} may be needed, and of "
            f"{told['most']} there are {shown(limit, max(free, Decimal(0)), currency)} left."
        )
    return BudgetExceeded(
        f"{why} The finished steps are kept; {more}",
        limit=limit.value, **told, needs=budget_of({limit: needed}, currency).to_json(),
    )  # fmt: skip
