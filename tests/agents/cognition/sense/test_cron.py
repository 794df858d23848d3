"""Set times in local time, over the changes of clocks of several places."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.sense.cron import (
    CronDefinition,
    Repeated,
    Skipped,
    after,
    before,
    cron_fault,
    usual_repeated,
)

BERLIN, SANTIAGO, LORD_HOWE = "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe"


def times(cron: str, zone: str, first: str, last: str, **rules: object) -> list[str]:
    """Return what is due after the one moment up to the other, as UTC and local time."""
    definition = CronDefinition("s", cron, zone, **rules)  # type: ignore[arg-type]
    begin, end = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (first, last))
    found = list(takewhile(lambda instant: instant <= end, after(definition, begin)))
    back = list(takewhile(lambda instant: instant > begin, before(definition, end)))
    assert back[::-1] == found
    return [f"{instant:%d %H:%M} {instant.astimezone(definition.zone):%H:%M}" for instant in found]


@pytest.mark.parametrize(
    ("skipped", "expected"),
    [
        (Skipped.AFTER, ["28 01:30 02:30", "29 01:00 03:00", "30 00:30 02:30"]),
        (Skipped.SKIP, ["28 01:30 02:30", "30 00:30 02:30"]),
    ],
)
def test_in_berlin_a_time_that_spring_skips_is_due_after_the_change_or_not_at_all(
    skipped: Skipped, expected: list[str]
) -> None:
    assert times("30 2 * * *", BERLIN, "2026-03-28", "2026-03-31", skipped=skipped) == expected


@pytest.mark.parametrize(
    ("repeated", "expected"),
    [
        (Repeated.FIRST, ["24 00:30 02:30", "25 00:30 02:30", "26 01:30 02:30"]),
        (Repeated.LAST, ["24 00:30 02:30", "25 01:30 02:30", "26 01:30 02:30"]),
        (Repeated.BOTH, ["24 00:30 02:30", "25 00:30 02:30", "25 01:30 02:30", "26 01:30 02:30"]),
    ],
)
def test_in_berlin_a_time_that_autumn_repeats_is_due_once_or_twice(repeated: Repeated, expected: list[str]) -> None:
    assert times("30 2 * * *", BERLIN, "2026-10-24", "2026-10-27", repeated=repeated) == expected


@pytest.mark.parametrize(
    ("zone", "first", "last", "hours"),
    [
        (BERLIN, "2026-03-28T20:00", "2026-03-29T08:00", 12),
        (BERLIN, "2026-10-24T20:00", "2026-10-25T08:00", 12),
        (SANTIAGO, "2026-09-05T22:00", "2026-09-06T10:00", 12),
        (SANTIAGO, "2026-04-04T22:00", "2026-04-05T10:00", 12),
    ],
)
def test_every_hour_is_every_hour_that_passes(zone: str, first: str, last: str, hours: int) -> None:
    found = times("0 * * * *", zone, first, last, repeated=usual_repeated("0 * * * *"))
    assert [each[3:8] for each in found] == [
        f"{(datetime.fromisoformat(first) + timedelta(hours=n)):%H:%M}" for n in range(1, hours + 1)
    ]


def test_on_lord_howe_where_clocks_move_by_half_an_hour_hourly_follows_the_local_hour() -> None:
    spring = times("0 * * * *", LORD_HOWE, "2026-10-03T14:00", "2026-10-03T17:00", repeated=Repeated.BOTH)
    assert spring == ["03 14:30 01:00", "03 15:30 02:30", "03 16:00 03:00", "03 17:00 04:00"]
    skipping = times("0 * * * *", LORD_HOWE, "2026-10-03T14:00", "2026-10-03T17:00", skipped=Skipped.SKIP)
    assert skipping == ["03 14:30 01:00", "03 16:00 03:00", "03 17:00 04:00"]
    autumn = times("30 1 * * *", LORD_HOWE, "2026-04-04T12:00", "2026-04-04T16:00", repeated=Repeated.BOTH)
    assert autumn == ["04 14:30 01:30", "04 15:00 01:30"]
    assert times("30 2 * * *", LORD_HOWE, "2026-10-02T12:00", "2026-10-04T17:00") == [
        "02 16:00 02:30", "03 15:30 02:30", "04 15:30 02:30",
    ]  # fmt: skip


def test_in_santiago_half_past_two_is_untouched_and_half_past_midnight_is_skipped_and_half_past_eleven_repeats() -> (
    None
):
    assert times("30 2 * * *", SANTIAGO, "2026-09-05", "2026-09-08") == [
        "05 06:30 02:30", "06 05:30 02:30", "07 05:30 02:30",
    ]  # fmt: skip
    assert times("30 0 * * *", SANTIAGO, "2026-09-05", "2026-09-07") == ["05 04:30 00:30", "06 04:00 01:00"]
    assert times("30 23 * * *", SANTIAGO, "2026-04-04T12:00", "2026-04-05T12:00", repeated=Repeated.BOTH) == [
        "05 02:30 23:30", "05 03:30 23:30",
    ]  # fmt: skip


def test_several_times_that_are_skipped_together_are_due_once() -> None:
    assert times("10,20,30 2 * * *", BERLIN, "2026-03-28T12:00", "2026-03-29T12:00") == ["29 01:00 03:00"]


def test_a_whole_day_that_was_left_out_is_due_at_the_change() -> None:
    assert times("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00", "2011-12-31") == [
        "29 22:00 12:00", "30 10:00 00:00", "30 22:00 12:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cron", "rule"), [("30 2 * * *", Repeated.FIRST), ("0 * * * *", Repeated.BOTH), ("*/5 */2 * * *", Repeated.BOTH)]
)
def test_without_a_rule_a_set_hour_is_due_once_and_every_hour_each_time(cron: str, rule: Repeated) -> None:
    assert usual_repeated(cron) is rule


@pytest.mark.parametrize("cron", ["", "* * * *", "0 0 * * * *", "61 * * * *", "0 0 30 2 *", "x * * * *", "*/0 * * * *"])
def test_what_is_no_schedule_is_refused_with_a_reason(cron: str) -> None:
    assert cron_fault(cron)


ZONES = st.sampled_from([BERLIN, SANTIAGO, LORD_HOWE, "UTC", "America/New_York", "Asia/Kathmandu", "Africa/Casablanca"])
CRONS = st.sampled_from(["30 2 * * *", "0 * * * *", "*/15 * * * *", "30 1,2,3 * * *", "59 23 * * 6", "0 0 1 * *"])
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
RULES = st.fixed_dictionaries({"skipped": st.sampled_from(Skipped), "repeated": st.sampled_from(Repeated)})


@given(CRONS, ZONES, MOMENTS, RULES)
def test_instants_run_forward_and_going_back_finds_the_same(
    cron: str, zone: str, moment: datetime, rules: dict[str, object]
) -> None:
    definition = CronDefinition("s", cron, zone, **rules)  # type: ignore[arg-type]
    found = list(islice(after(definition, moment), 12))
    assert found == sorted(set(found)) and found[0] > moment
    assert list(takewhile(lambda instant: instant > moment, before(definition, found[-1])))[::-1] == found


@given(CRONS, ZONES, st.integers(2020, 2029), st.sampled_from(Repeated), st.data())
def test_it_does_not_matter_from_where_one_begins_to_count(
    cron: str, zone: str, year: int, repeated: Repeated, data: st.DataObject
) -> None:
    definition = CronDefinition("s", cron, zone, repeated=repeated)
    change = next((each for each in _changes(year, zone)), datetime(year, 6, 1, tzinfo=UTC))
    begin = change - timedelta(hours=30)
    whole = list(takewhile(lambda instant: instant <= change + timedelta(hours=30), after(definition, begin)))
    cut = begin + timedelta(minutes=data.draw(st.integers(0, 60 * 60)))
    later = [instant for instant in whole if instant > cut]
    assert list(islice(after(definition, cut), len(later))) == later


def _changes(year: int, zone: str) -> list[datetime]:
    days = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(365)]
    offsets = [day.astimezone(ZoneInfo(zone)).utcoffset() for day in days]
    return [days[n] for n in range(1, 365) if offsets[n] != offsets[n - 1]]
