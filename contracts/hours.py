"""The hours in which an organisation works."""

from __future__ import annotations

from typing import Self
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from contracts.base import Contract

TIME_PATTERN = r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"


class WorkingHours(Contract):
    """On which days, and from when to when by the clock of the place. Holidays are not known."""

    time_zone: str
    """IANA name, such as America/New_York."""
    days: tuple[int, ...] = Field(default=(1, 2, 3, 4, 5), min_length=1)
    """Days of the week, 1 is Monday."""
    starts: str = Field(default="09:00", pattern=TIME_PATTERN)
    """Local time, such as 08:30."""
    ends: str = Field(default="17:00", pattern=TIME_PATTERN)
    """Local time; 24:00 is the end of the day."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.ends <= self.starts:
            raise ValueError(f"Work ends at {self.ends}, which is not after {self.starts}.")
        if any(day not in range(1, 8) for day in self.days):
            raise ValueError("Days are numbers from 1, Monday, to 7, Sunday.")
        try:
            ZoneInfo(self.time_zone)
        except (LookupError, ValueError, OSError) as error:
            raise ValueError(f"There is no time zone {self.time_zone!r}.") from error
        return self
