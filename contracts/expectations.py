"""What a choice promises, in numbers that can be held against what happens."""

from __future__ import annotations

from typing import Self

from pydantic import AwareDatetime, Field, model_validator

from contracts.base import Contract, Json, Name, Sha256
from contracts.periods import Grain


class Expectation(Contract):
    """What an option promises of a metric, in its unit; whether it came true is read when the period is over."""

    metric: Name
    """What is read."""
    metric_version: Sha256
    """Hash of the definition that it was promised by; under another definition nothing can be compared."""
    unit: str
    """Unit of all numbers here."""
    grain: Grain
    """The length of the period."""
    period: str
    """The one period that is read, in local time of the organisation: `2013-02-09` or `2013-02-09T17:00`."""
    where: dict[Name, Json] = {}
    """The slice; empty means the whole."""
    baseline: float
    """The value that change is counted from, as it was known when this was promised."""
    change: float
    """What the metric is expected to change by."""
    low: float
    """Lower end of the interval of the change."""
    high: float
    """Upper end of the interval of the change."""
    level: float = Field(default=0.9, gt=0, le=1)
    """How often such an interval is meant to hold."""
    starts_at: AwareDatetime
    """UTC; when the period begins."""
    ends_at: AwareDatetime
    """UTC; when it is over. Before that nothing is judged."""

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if not self.low <= self.change <= self.high:
            raise ValueError(
                f"The expected change {self.change} does not lie in its interval {self.low} to {self.high}."
            )
        if self.ends_at <= self.starts_at:
            raise ValueError("The period ends before it begins.")
        return self
