"""Amounts of what budgets limit, so that limits, what was spent and what is reserved can be reckoned with alike."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import TypeAlias

from contracts import Budget, Limit, Money, Usage

Amounts: TypeAlias = Mapping[Limit, Decimal]
"""Limit → how much of it. Money is in the currency of the budget at hand; what is absent is not limited there."""

NONE: Amounts = {}
SMALLEST: Amounts = {
    Limit.STEPS: Decimal(1),
    Limit.TOKENS: Decimal(1),
    Limit.SECONDS: Decimal("0.001"),
    Limit.MONEY: Decimal("0.000001"),
}
"""The smallest part of each that is given or asked for."""
_ROUNDED_BELOW = Decimal(10) ** 20


def amounts_of(budget: Budget) -> dict[Limit, Decimal]:
    """Return the limits that the budget sets."""
    found: dict[Limit, Decimal] = {}
    if budget.steps is not None:
        found[Limit.STEPS] = Decimal(budget.steps)
    if budget.tokens is not None:
        found[Limit.TOKENS] = Decimal(budget.tokens)
    if budget.seconds is not None:
        found[Limit.SECONDS] = _seconds(budget.seconds)
    if budget.money is not None:
        found[Limit.MONEY] = budget.money.amount
    return found


def spent_of(usage: Usage, budget: Budget) -> dict[Limit, Decimal]:
    """Return what was spent of everything that the budget limits."""
    found: dict[Limit, Decimal] = {}
    if budget.steps is not None:
        found[Limit.STEPS] = Decimal(usage.steps)
    if budget.tokens is not None:
        found[Limit.TOKENS] = Decimal(usage.tokens_in + usage.tokens_out)
    if budget.seconds is not None:
        found[Limit.SECONDS] = _seconds(usage.seconds)
    if budget.money is not None:
        found[Limit.MONEY] = in_currency(usage.money, budget.money.currency)
    return found


def _seconds(seconds: float) -> Decimal:
    """Return seconds as they are written; exactly as a float holds them, 899.999 and 0.001 would be more than 900."""
    return Decimal(repr(seconds))


def in_currency(money: tuple[Money, ...], currency: str) -> Decimal:
    """Return how much of the money is in this currency."""
    return sum((each.amount for each in money if each.currency == currency), Decimal(0))


def budget_of(amounts: Amounts, currency: str | None) -> Budget:
    """Return the budget with these limits, rounded down; steps and seconds of nothing are left out."""
    steps, seconds = int(amounts.get(Limit.STEPS, 0)), float(rounded(Limit.SECONDS, amounts.get(Limit.SECONDS)))
    money = Money(amount=rounded(Limit.MONEY, amounts.get(Limit.MONEY)), currency=currency) if currency else None
    return Budget(
        steps=steps or None,
        seconds=seconds or None,
        tokens=int(amounts[Limit.TOKENS]) if Limit.TOKENS in amounts else None,
        money=money if Limit.MONEY in amounts else None,
    )


def rounded(limit: Limit, amount: Decimal | None) -> Decimal:
    """Return the amount in whole smallest parts, rounded down."""
    return (amount or Decimal(0)).quantize(SMALLEST[limit], rounding=ROUND_DOWN)


def rounded_up(limit: Limit, amount: Decimal) -> Decimal:
    """Return the amount in whole smallest parts, rounded up, as is right for what is asked for."""
    return amount.quantize(SMALLEST[limit], rounding=ROUND_UP)


def shown(limit: Limit, amount: Decimal, currency: str | None) -> str:
    """Return the amount as people write it: `3`, `0.25 USD`."""
    exact = abs(amount) < _ROUNDED_BELOW  # beyond, a decimal has no digits left for parts
    plain = format(round(amount, 6).normalize() if exact else amount, "f") if amount else "0"
    return f"{plain} {currency}" if limit is Limit.MONEY and currency else plain


def is_more(budget: Budget, than: Budget) -> bool:
    """Whether a budget allows more of anything than another one did."""
    now, before = amounts_of(budget), amounts_of(than)
    return any(limit not in now or now[limit] > some for limit, some in before.items())
