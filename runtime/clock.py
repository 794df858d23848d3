"""Time comes from a clock that is handed in, so that a test can move it by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What tells the time."""

    def now(self) -> datetime:
        """Return the moment, aware, in UTC."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the moment, aware, in UTC."""
        return datetime.now(UTC)
