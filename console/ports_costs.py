"""What a face needs of costs and budgets; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Protocol

from console.views_costs import BudgetRow, CostTable
from contracts import ExecutionId
from governance.access.sight import EVERYTHING, Sight


class CostsPort(Protocol):
    """What work cost, and what it may cost."""

    async def costs(
        self,
        *,
        by: str,
        organisation: str | None,
        since: date | None,
        until: date | None,
        execution_id: ExecutionId | None = None,
        sight: Sight = EVERYTHING,
    ) -> CostTable:
        """Return the sums of an organisation, or of one execution.

        Args:
            by: `step`, `agent`, `process`, `department`, `model` or `day`.
            organisation: None means the only one there is.
            since: day of UTC, included; None means 30 days up to `until`.
            until: day of UTC, included; None means today.
            sight: of whose work costs are told; of those that nothing is known of any more only where all is seen.

        Raises:
            InvalidArguments: sums are not told by that, no organisation is named where there are several, or `since`
                comes after `until`.
            NotFound: there is no such execution.
        """
        ...

    async def cost_organisations(self) -> Sequence[str]:
        """Return the organisations of which anything was spent."""
        ...

    async def rebuild_costs(self) -> int:
        """Count all costs again from the events that are there; return how far that reaches."""
        ...

    async def budgets(self, folder: Path) -> Sequence[BudgetRow]:
        """Return how the budgets of departments and processes stand in the periods that are now."""
        ...

    async def extend_budget(
        self, folder: Path, name: str, more: Mapping[str, str], *, by: str | None, why: str
    ) -> Sequence[BudgetRow]:
        """Give a budget more for the period that is now, on record; return how it stands.

        Args:
            name: `department/desk/day`.
            more: `money`, `tokens`, `seconds` → text.

        Raises:
            UnknownName: there is no such budget.
            PermissionRefused: who acts is no administrator there.
            InvalidArguments: the budget does not limit that.
        """
        ...

    async def rebuild_budgets(self, folder: Path) -> int:
        """Make the rows of an organisation's budgets anew from the events that are there; return how many."""
        ...
