"""Periods of a metric, in the organisation's local time.

The rule at clock changes: buckets are wall-clock periods. The hour that spring skips does not exist and is no bucket;
the hour that autumn repeats is one bucket of two hours, because local time cannot tell its halves apart. An hour of
which a part is skipped is a bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from contracts import Grain
from runtime.errors import InvalidArguments

FIRST_YEAR, LAST_YEAR = 1900, 9998
"""Years whose moments can be read: a year beyond them can still be computed with in every zone and grain."""
MOST_BUCKETS = 10_000
"""Periods of one reading."""

_HOUR_FORM, _DAY_FORM = "%Y-%m-%dT%H:00", "%Y-%m-%d"


def year_fault(moment: datetime) -> str | None:
    """Return why a moment cannot be read, or None when it can."""
    if FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return f"the year must lie between {FIRST_YEAR} and {LAST_YEAR}, not {moment.year}"


def bucket_start(moment: datetime, grain: Grain) -> datetime:
    """Return the start of the bucket in which a local wall-clock moment lies; weeks start on Monday (ISO 8601)."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match grain:
        case Grain.HOUR:
            return moment.replace(minute=0, second=0, microsecond=0)
        case Grain.DAY:
            return day
        case Grain.WEEK:
            return day - timedelta(days=day.weekday())
        case Grain.MONTH:
            return day.replace(day=1)


def next_start(start: datetime, grain: Grain) -> datetime:
    """Return the start of the bucket after the one that starts then, on the wall clock."""
    match grain:
        case Grain.HOUR:
            return start + timedelta(hours=1)
        case Grain.DAY:
            return start + timedelta(days=1)
        case Grain.WEEK:
            return start + timedelta(days=7)
        case Grain.MONTH:
            return (start + timedelta(days=32)).replace(day=1)


def back(start: datetime, grain: Grain, count: int) -> datetime:
    """Return the start of the bucket `count` buckets earlier; raise InvalidArguments for more than can be read."""
    if count >= MOST_BUCKETS:
        raise InvalidArguments(
            f"`last` is how many periods are read, {MOST_BUCKETS:,} at most; not {count + 1:,}.", last=count + 1
        )
    for _ in range(count):
        start = bucket_start(start - timedelta(seconds=1), grain)
    return start


def back_with(start: datetime, grain: Grain, count: int, zone: ZoneInfo) -> datetime:
    """Return the start of the bucket `count` buckets earlier, not counting hours (and days) that never were."""
    first = back(start, grain, count)
    while (short := count - sum(1 for _ in buckets(first, start, grain, zone))) > 0:
        first = back(first, grain, short)
    return first


def buckets(first: datetime, end: datetime, grain: Grain, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the starts of the buckets from `first` on that start before `end`, without the hours that never were."""
    start = bucket_start(first, grain)
    while start < end:
        following = next_start(start, grain)
        if to_utc(following, zone) > to_utc(start, zone):
            yield start
        start = following


def to_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment at which clocks first showed `local`, or would have, had they not been put forward."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def to_local(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return what clocks in that zone show at an aware moment, as a naive datetime."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def to_text(start: datetime, grain: Grain) -> str:
    """Return the bucket as people write it: `2013-02-08`, or `2013-02-08T17:00` for an hour."""
    return start.strftime(_HOUR_FORM if grain is Grain.HOUR else _DAY_FORM)


def from_text(text: str, grain: Grain) -> datetime:
    """Return the start of the bucket that is written so; raise InvalidArguments when it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise InvalidArguments(
            f"{text!r} is no {grain}; write it as local time, like 2013-02-08 or 2013-02-08T17:00.", bucket=text
        )
    fault = year_fault(moment)
    if fault is not None:
        raise InvalidArguments(f"{text!r} cannot be read: {fault}.", bucket=text)
    return bucket_start(moment, grain)
