"""What a department or a process may spend in a period, and whose orders draw on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Protocol

from contracts import Budget, TaskOrder

PREFIX = "budget"
"""Rows of shared budgets are `budget/ORGANISATION/KIND/OWNER/PERIOD/WINDOW`."""


class Period(StrEnum):
    """For how long a budget holds before it begins anew, in the organisation's time zone."""

    DAY = "day"
    WEEK = "week"
    """ISO week, from Monday."""
    MONTH = "month"

    def window(self, moment: datetime) -> str:
        """Return the name of the period that this local moment is in: `2026-12-01`, `2026-W49`, `2026-12`."""
        match self:
            case Period.DAY:
                return f"{moment:%Y-%m-%d}"
            case Period.WEEK:
                year, week, _ = moment.isocalendar()
                return f"{year}-W{week:02}"
        return f"{moment:%Y-%m}"


@dataclass(frozen=True, slots=True)
class SharedBudget:
    """What everybody of a department, or every order of a process, may spend together in one period."""

    kind: str
    """`department` or `process`."""
    owner: str
    """The employee at its head, or the skill."""
    per: Period
    limits: Budget
    zone: tzinfo

    @property
    def name(self) -> str:
        """Its name in its organisation: `department/desk/day`."""
        return f"{self.kind}/{self.owner}/{self.per.value}"

    def row(self, organisation: str, now: datetime) -> str:
        """Return the row of the period that `now` is in."""
        return f"{PREFIX}/{organisation}/{self.name}/{self.per.window(now.astimezone(self.zone))}"

    def covers(self, order: TaskOrder) -> bool:
        """Whether the order draws on it: its employee or its skill, or one above it, is the budget's."""
        if self.kind == "department":
            return self.owner in (order.employee, *(above.employee for above in order.chain))
        return self.owner in (order.skill, *(above.skill for above in order.chain))


class SharedBudgets(Protocol):
    """The shared budgets of one organisation."""

    def over(self, order: TaskOrder) -> Sequence[SharedBudget]:
        """Return those that the order draws on, as they hold now."""
        ...
