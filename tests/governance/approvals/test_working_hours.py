"""Time to decide over nights, weekends and clock changes (case A4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import WorkingHours
from governance.approvals.working_hours import moment_after

BERLIN = WorkingHours(time_zone="Europe/Berlin", days=(1, 2, 3, 4, 5), starts="09:00", ends="17:00")
ALWAYS = WorkingHours(time_zone="Europe/Berlin", days=(1, 2, 3, 4, 5, 6, 7), starts="00:00", ends="24:00")
ZONE = ZoneInfo("Europe/Berlin")
HOUR = 3_600.0


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


@pytest.mark.parametrize(
    ("start", "hours", "end"),
    [
        ("2026-03-04T10:00", 2, "2026-03-04T12:00"),
        ("2026-03-04T16:00", 2, "2026-03-05T10:00"),
        ("2026-03-06T16:30", 2, "2026-03-09T10:30"),
        ("2026-03-07T12:00", 8, "2026-03-09T17:00"),
        ("2026-03-04T03:00", 1, "2026-03-04T10:00"),
        ("2026-03-04T20:00", 1, "2026-03-05T10:00"),
        ("2026-03-27T16:00", 2, "2026-03-30T10:00"),
        ("2026-10-23T16:00", 2, "2026-10-26T10:00"),
    ],
)
def test_only_working_time_counts_over_nights_weekends_and_clock_changes(start: str, hours: float, end: str) -> None:
    assert moment_after(local(start), hours * HOUR, BERLIN) == local(end)


@pytest.mark.parametrize(("night", "clock_hours"), [("2026-03-28T23:00", 9), ("2026-10-24T23:00", 7)])
def test_where_work_never_stops_a_clock_change_leaves_the_time_as_long_as_it_is(night: str, clock_hours: int) -> None:
    start = local(night)
    end = moment_after(start, 8 * HOUR, ALWAYS)
    assert end == start.astimezone(UTC) + timedelta(hours=8)
    wall = end.astimezone(ZONE).replace(tzinfo=None) - start.replace(tzinfo=None)
    assert wall == timedelta(hours=clock_hours)


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),
    st.floats(1, 400 * HOUR),
    st.floats(1, 400 * HOUR),
)
def test_two_stretches_of_working_time_are_one(start: datetime, first: float, second: float) -> None:
    halfway = moment_after(start, first, BERLIN)
    once, twice = moment_after(start, first + second, BERLIN), moment_after(halfway, second, BERLIN)
    assert abs((once - twice).total_seconds()) < 0.01 or once.astimezone(ZONE).hour in (9, 17)
    assert once >= halfway >= start
