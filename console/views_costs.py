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
