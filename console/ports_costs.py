"""What a face needs of costs and budgets; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from console.views_costs import CostTable
from contracts import ExecutionId


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
    ) -> CostTable:
        """Return the sums of an organisation, or of one execution.

        Args:
            by: `step`, `agent`, `process`, `department`, `model` or `day`.
            organisation: None means the only one there is.
            since: day of UTC, included; None means 30 days up to `until`.
            until: day of UTC, included; None means today.

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
