"""What the faces show of costs and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from contracts import ExecutionId, Money


@dataclass(frozen=True, slots=True)
class CostRow:
    """One sum."""

    key: str
    """What it is the sum of: a step, an employee, a process, a department, a model or a day; empty: of none of them."""
    tokens_in: int
    tokens_out: int
    money: tuple[Money, ...]
    """One entry for each currency, without calls whose price nobody knows."""
    seconds: float
    steps: int
    unpriced: int
    """Calls and answers of models whose price nobody knows."""


@dataclass(frozen=True, slots=True)
class CostTable:
    """Sums of the costs of an organisation, or of one execution."""

    organisation: str
    by: str
    since: date | None
    """Days are those of UTC; None where one execution is asked about."""
    until: date | None
    rows: tuple[CostRow, ...]
    total: CostRow
    execution_id: ExecutionId | None = None


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One limit of a budget of a department or process, in the period that is now."""

    budget: str
    """Its name: `department/desk/day`."""
    window: str
    """The period: `2026-12-01`, `2026-W49`, `2026-12`."""
    limit: str
    """`money`, `tokens` or `seconds`."""
    most: str
    """With what was added for this period."""
    extra: str
    """What was added for this period."""
    spent: str
    reserved: str
    """Set aside, at its worst, for calls in progress."""
    left: str
