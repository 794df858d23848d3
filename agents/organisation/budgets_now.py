"""The budgets of a folder's departments and processes as they stand now, read again only when org.yaml changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.organisation.loader import read_budgets
from runtime.engine.shared_budget import SharedBudget


class BudgetsNow:
    """Reads them; each order asks when it begins."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "org.yaml"
        self._seen: tuple[int, int, int] | None = None
        self._budgets: Sequence[SharedBudget] = ()

    def __call__(self) -> Sequence[SharedBudget]:
        """Return them; raises as `read_budgets`."""
        try:
            look = self._file.stat()
            seen = (look.st_mtime_ns, look.st_size, look.st_ino)
        except OSError:
            seen = None
        if seen is None or seen != self._seen:
            self._seen = None
            self._budgets = read_budgets(self._file.parent)
            self._seen = seen
        return self._budgets
