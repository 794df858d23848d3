"""What `baseline:` of a threshold sensor may say."""

from __future__ import annotations

from pydantic import Field

from agents.cognition.sense.baseline import Baseline, Season
from agents.organisation.declared import Declared, Duration


class BaselineEntry(Declared):
    """How a sensor knows what is usual."""

    history: Duration
    """How far back it looks."""
    season: Season | None = None
    """What repeats itself; absent means nothing does."""
    deviates: float = Field(default=3.0, gt=0)
    """Standard deviations from `expected` to `low` and `high`."""
    at_least: float = Field(default=0.0, ge=0)
    """Least distance of them, in the unit of the metric."""

    def baseline(self) -> Baseline:
        """Return it as sensors take it."""
        return Baseline(self.history, self.season, self.deviates, self.at_least)
