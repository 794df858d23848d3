"""Costs as they are summed up: what was spent, by whom, for what, with which model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from contracts import Usage


class Series(NamedTuple):
    """What costs are told apart by. Nothing of it is empty by accident: an empty text says that there is none."""

    path: str
    """Employees from the head down to who did it, `head/desk/analyst`."""
    process: str
    """The outermost skill that the work belongs to; empty for a goal without one."""
    skill: str
    """The skill whose step it was."""
    step: str
    """The step of its plan."""
    model: str
    """Name of the model that was asked."""

    @property
    def employee(self) -> str:
        """Who did it."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Cost:
    """A sum. Money of calls whose price nobody knows is not in it: how many there were is told beside it."""

    tokens_in: int = 0
    tokens_out: int = 0
    money: tuple[tuple[str, Decimal], ...] = ()
    """Currency → amount."""
    seconds: float = 0.0
    steps: int = 0
    unpriced: int = 0
    """Calls and answers whose price nobody knows."""

    @classmethod
    def of(cls, usage: Usage, *, unpriced: bool) -> Cost:
        """Return what one event tells."""
        money = tuple(sorted((each.currency, each.amount) for each in usage.money))
        return cls(usage.tokens_in, usage.tokens_out, money, usage.seconds, usage.steps, int(unpriced))

    def __add__(self, other: Cost) -> Cost:
        money = dict(self.money)
        for currency, amount in other.money:
            money[currency] = money.get(currency, Decimal(0)) + amount
        return Cost(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            tuple(sorted(money.items())),
            self.seconds + other.seconds,
            self.steps + other.steps,
            self.unpriced + other.unpriced,
        )

    def to_data(self) -> list[Any]:
        """Return the form in which it is kept."""
        money = {currency: str(amount) for currency, amount in self.money}
        return [self.tokens_in, self.tokens_out, money, round(self.seconds, 6), self.steps, self.unpriced]

    @classmethod
    def from_data(cls, data: list[Any]) -> Cost:
        """Return what was kept."""
        tokens_in, tokens_out, money, seconds, steps, unpriced = data
        kept = tuple(sorted((currency, Decimal(amount)) for currency, amount in money.items()))
        return cls(tokens_in, tokens_out, kept, seconds, steps, unpriced)


Costs = Mapping[Series, Cost]
NOTHING = Cost()


def summed_by(what: str, days: Mapping[str, Costs]) -> dict[str, Cost]:
    """Return the sums by `step`, `agent`, `process`, `department`, `model` or `day`, the dearest first, days in order.

    A department's sum holds all below it, so that that of the head is the whole and departments do not add up to more.
    """
    sums: dict[str, Cost] = {}
    for day, costs in days.items():
        for series, cost in costs.items():
            for key in _KEYS[what](series, day):
                sums[key] = sums.get(key, NOTHING) + cost
    if what in ("day", "department"):
        return dict(sorted(sums.items()))
    return dict(sorted(sums.items(), key=lambda item: (-_weight(item[1]), item[0])))


def total(days: Mapping[str, Costs]) -> Cost:
    """Return the sum of everything."""
    return sum((cost for costs in days.values() for cost in costs.values()), NOTHING)


def _weight(cost: Cost) -> float:
    return float(max((amount for _, amount in cost.money), default=0)) * 1e9 + cost.tokens_in + cost.tokens_out


def _departments(series: Series, day: str) -> Iterable[str]:
    parts = series.path.split("/")
    return ["/".join(parts[: length + 1]) for length in range(len(parts))]


_KEYS: Mapping[str, Callable[[Series, str], Iterable[str]]] = {
    "step": lambda series, day: [f"{series.skill}/{series.step}" if series.skill else series.step],
    "agent": lambda series, day: [series.employee],
    "process": lambda series, day: [series.process],
    "department": _departments,
    "model": lambda series, day: [series.model],
    "day": lambda series, day: [day],
}
BY = tuple(_KEYS)
"""What sums may be told by."""
