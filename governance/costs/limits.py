"""The budgets of departments and processes that hold now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contracts import TaskOrder
from runtime.engine.shared_budget import SharedBudget
from runtime.errors import NotFound, OrganisationFaulty


class StandingBudgets:
    """Those of the folder as it stands, so that one that was raised lets stopped work go on; a `SharedBudgets`.

    Args:
        pinned: those that the work was started with; they hold while those of the folder cannot be read.
        now: returns those of the folder; raises NotFound without a folder, OrganisationFaulty where it is faulty.
    """

    def __init__(self, pinned: Sequence[SharedBudget], now: Callable[[], Sequence[SharedBudget]]) -> None:
        self._pinned = tuple(pinned)
        self._now = now

    def over(self, order: TaskOrder) -> Sequence[SharedBudget]:
        """Return those that the order draws on."""
        try:
            now = self._now()
        except (NotFound, OrganisationFaulty):
            now = self._pinned
        return [budget for budget in now if budget.covers(order)]
