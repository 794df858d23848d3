"""Time to decide, counted day and night or in the hours in which an organisation works."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from contracts import WorkingHours

_MOST_DAYS = 366 * 20
"""A count that has not come to its end after these days never will; it is an error of the hours."""


def moment_after(start: datetime, seconds: float, hours: WorkingHours | None) -> datetime:
    """Return the moment, UTC, by which so many seconds of working time have passed since `start`.

    Real seconds are counted, so that a day on which clocks change is as long as it is: 23, 24 or 25 hours, or the
    share of it that lies within the hours. Without hours every second counts. A count that ends exactly with a working
    day ends then, not with the beginning of the next one.
    """
    if hours is None:
        return start.astimezone(UTC) + timedelta(seconds=seconds)
    zone, left, moment = ZoneInfo(hours.time_zone), seconds, start.astimezone(UTC)
    day = moment.astimezone(zone).date()
    for _ in range(_MOST_DAYS):
        if day.isoweekday() in hours.days:
            opens, closes = _at(day, hours.starts, zone), _at(day, hours.ends, zone)
            opens = max(opens, moment)
            within = (closes - opens).total_seconds()
            if 0 < left <= within or (left <= 0 and within >= 0):
                return opens + timedelta(seconds=max(0.0, left))
            left -= max(0.0, within)
        day += timedelta(days=1)
    raise ValueError(f"{seconds} seconds never pass within these working hours.")


def _at(day: date, clock: str, zone: ZoneInfo) -> datetime:
    """Return the moment at which clocks of the zone show that time, the first where they show it twice.

    One that they skip stands for the moment at which they would have shown it, had they not been put forward.
    """
    if clock == "24:00":
        day, clock = day + timedelta(days=1), "00:00"
    local = datetime.combine(day, time.fromisoformat(clock), tzinfo=zone)
    return local.astimezone(UTC)
