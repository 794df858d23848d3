from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from governance.alerts.maintenance import Cron, Dated, Weekly, When

BERLIN = ZoneInfo("Europe/Berlin")
"""Forward on 29 March 2026 at 02:00, back on 25 October 2026 at 03:00."""
SANTIAGO = ZoneInfo("America/Santiago")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def inside(when: When, zone: ZoneInfo, *moments: str) -> list[bool]:
    """Whether it holds at these moments, given in UTC."""
    return [when.until(datetime.fromisoformat(each).replace(tzinfo=UTC), zone) is not None for each in moments]


def test_a_nightly_window_ends_after_midnight() -> None:
    night = Weekly(time(22), time(6))

    assert inside(night, BERLIN, "2026-01-10T20:59", "2026-01-10T21:00", "2026-01-11T04:59", "2026-01-11T05:00") == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    saturday = Weekly(time(22), time(6), frozenset({5}))

    assert inside(saturday, BERLIN, "2026-01-10T22:00", "2026-01-11T03:00", "2026-01-11T22:00") == [True, True, False]


def test_the_hour_that_is_repeated_belongs_to_the_window_both_times() -> None:
    window = Weekly(time(2), time(3))

    assert inside(window, BERLIN, "2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:00") == [True, True, False]


def test_the_hour_that_is_skipped_is_in_no_window() -> None:
    assert inside(Weekly(time(2), time(3)), BERLIN, "2026-03-29T00:59", "2026-03-29T01:00") == [False, False]


def test_half_an_hour_can_be_repeated_as_well() -> None:
    window = Weekly(time(1, 30), time(2))

    assert inside(window, LORD_HOWE, "2026-04-04T14:45", "2026-04-04T15:15", "2026-04-04T15:30") == [True, True, False]


def test_a_day_whose_midnight_is_skipped_still_has_its_window() -> None:
    assert inside(Weekly(time(0), time(2)), SANTIAGO, "2026-09-06T03:59", "2026-09-06T04:30", "2026-09-06T05:00") == [
        False, True, False,
    ]  # fmt: skip


def test_a_dated_window_is_as_long_as_it_can_be_where_its_end_comes_twice() -> None:
    dated = Dated(datetime(2026, 10, 25, 2, 0), datetime(2026, 10, 25, 2, 30))

    assert inside(dated, BERLIN, "2026-10-24T23:59", "2026-10-25T00:00", "2026-10-25T01:29", "2026-10-25T01:30") == [
        False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("day", "begins"), [("2026-03-29", "01:30"), ("2026-01-10", "01:30")])
def test_a_cron_window_lasts_as_long_as_it_says_in_real_time(day: str, begins: str) -> None:
    window = Cron("30 2 * * *", timedelta(hours=2))
    start = datetime.fromisoformat(f"{day}T{begins}").replace(tzinfo=UTC)
    if day == "2026-03-29":  # 02:30 is not there; it begins when the clocks have jumped to 03:00
        start = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)

    assert window.until(start - timedelta(seconds=1), BERLIN) is None
    assert window.until(start, BERLIN) == start + timedelta(hours=2)
    assert window.until(start + timedelta(hours=2), BERLIN) is None
