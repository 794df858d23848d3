"""Maintenance: times in which alerts are expected and nobody is told, dated or coming again.

They are read by the organisation's clocks on the wall. What comes back every week is inside whenever these show such a
time: the hour that a clock change repeats belongs to it both times, and one that is skipped is not there. A `cron` says
when it begins and `for` how long it lasts, counted in real time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from governance.alerts.matching import Matcher

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NEXT_DAY = timedelta(days=1)


class When(Protocol):
    """Times of the organisation."""

    def until(self, at: datetime, zone: ZoneInfo) -> datetime | None:
        """Return when the time that `at` is in ends, UTC; None outside."""
        ...


@dataclass(frozen=True, slots=True)
class Dated:
    """From one local moment until another. Where a clock change makes one of them two, it is as long as can be."""

    begins: datetime
    """Local, without a zone."""
    ends: datetime

    def until(self, at: datetime, zone: ZoneInfo) -> datetime | None:
        """Return when it ends, UTC; None outside."""
        begins = self.begins.replace(tzinfo=zone, fold=0).astimezone(UTC)
        ends = self.ends.replace(tzinfo=zone, fold=1).astimezone(UTC)
        return ends if begins <= at < ends else None


@dataclass(frozen=True, slots=True)
class Weekly:
    """From one time of the day to another, over midnight where it ends before it begins, on these days."""

    begins: time
    ends: time
    days: frozenset[int] = frozenset(range(7))
    """Weekdays on which it begins, 0 for Monday."""

    def until(self, at: datetime, zone: ZoneInfo) -> datetime | None:
        """Return when it ends, UTC; None outside."""
        local = at.astimezone(zone)
        wall, today = local.replace(tzinfo=None), local.date()
        for day in (today, today - _NEXT_DAY):
            begins = datetime.combine(day, self.begins)
            ends = datetime.combine(day if self.ends > self.begins else day + _NEXT_DAY, self.ends)
            if day.weekday() in self.days and begins <= wall < ends:
                return ends.replace(tzinfo=zone, fold=1).astimezone(UTC)
        return None


@dataclass(frozen=True, slots=True)
class Cron:
    """Begins when a cron expression says, on the organisation's clock, and lasts so long."""

    expression: str
    lasts: timedelta

    def until(self, at: datetime, zone: ZoneInfo) -> datetime | None:
        """Return when it ends, UTC; None outside. Of several that overlap it is the one that began first."""
        from cronsim import CronSim  # only who has such windows pays for it

        begins = next(CronSim(self.expression, (at - self.lasts).astimezone(zone)), None)
        begins = None if begins is None else begins.astimezone(UTC)
        return None if begins is None or begins > at else begins + self.lasts


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Alerts that say nothing at such times."""

    name: str
    match: Matcher
    when: When
    reason: str = ""

    def until(self, labels: Mapping[str, str], at: datetime, zone: ZoneInfo) -> datetime | None:
        """Return until when an alert with these labels is under maintenance; None where it is not."""
        return self.when.until(at, zone) if self.match.matches(labels) else None
