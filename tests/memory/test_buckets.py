from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Grain
from memory import buckets
from runtime.errors import InvalidArguments

NEW_YORK = ZoneInfo("America/New_York")
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1))


def hours(zone: str, first: datetime, end: datetime) -> list[str]:
    return [buckets.to_text(b, Grain.HOUR) for b in buckets.buckets(first, end, Grain.HOUR, ZoneInfo(zone))]


@given(MOMENTS, st.sampled_from(Grain))
def test_a_moment_lies_in_its_bucket_and_not_in_the_next(moment: datetime, grain: Grain) -> None:
    start = buckets.bucket_start(moment, grain)
    assert start <= moment < buckets.next_start(start, grain)
    assert buckets.bucket_start(start, grain) == start


@given(MOMENTS, st.sampled_from(Grain), st.integers(0, 40))
def test_going_back_and_forth_ends_where_it_began(moment: datetime, grain: Grain, count: int) -> None:
    start = buckets.bucket_start(moment, grain)
    place = buckets.back(start, grain, count)
    for _ in range(count):
        place = buckets.next_start(place, grain)
    assert place == start


@given(MOMENTS, st.sampled_from(Grain))
def test_a_bucket_is_read_as_it_is_written(moment: datetime, grain: Grain) -> None:
    start = buckets.bucket_start(moment, grain)
    assert buckets.from_text(buckets.to_text(start, grain), grain) == start


@pytest.mark.parametrize("text", ["yesterday", "", "2013-02-30", "2013-02-08T17:00:00Z"])
def test_what_is_no_local_period_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="local time"):
        buckets.from_text(text, Grain.DAY)


@pytest.mark.parametrize("text", ["9999-12-31", "0001-01-01", "1899-12-31T23:00"])
def test_a_year_in_which_nothing_can_be_computed_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="between 1900 and 9998"):
        buckets.from_text(text, Grain.DAY)


def test_more_periods_than_can_be_read_are_refused() -> None:
    with pytest.raises(InvalidArguments, match="10,000 at most"):
        buckets.back(datetime(2013, 2, 8), Grain.DAY, 99_999_999_998)


@pytest.mark.parametrize(
    ("zone", "day", "skipped"),
    [
        ("America/New_York", datetime(2013, 3, 10), "T02:00"),
        ("Europe/Berlin", datetime(2024, 3, 31), "T02:00"),
        ("America/Santiago", datetime(2024, 9, 8), "T00:00"),
    ],
)
def test_the_hour_that_spring_skips_is_no_bucket(zone: str, day: datetime, skipped: str) -> None:
    found = hours(zone, day, buckets.next_start(day, Grain.DAY))
    assert len(found) == 23
    assert not any(hour.endswith(skipped) for hour in found)


def test_the_hour_that_autumn_repeats_is_one_bucket() -> None:
    day = datetime(2013, 11, 3)
    found = hours("America/New_York", day, buckets.next_start(day, Grain.DAY))
    assert len(found) == len(set(found)) == 24


def test_an_hour_of_which_half_is_skipped_is_a_bucket() -> None:
    day = datetime(2024, 10, 6)  # Lord Howe goes from 02:00 to 02:30
    assert len(hours("Australia/Lord_Howe", day, buckets.next_start(day, Grain.DAY))) == 24


def test_every_day_is_a_bucket_also_where_midnight_does_not_exist() -> None:
    zone = ZoneInfo("America/Santiago")
    found = list(buckets.buckets(datetime(2024, 9, 7), datetime(2024, 9, 10), Grain.DAY, zone))
    assert [day.day for day in found] == [7, 8, 9]


def test_a_local_moment_is_the_first_at_which_clocks_showed_it() -> None:
    assert buckets.to_utc(datetime(2013, 11, 3, 1), NEW_YORK).hour == 5
