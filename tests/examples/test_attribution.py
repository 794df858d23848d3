"""The rule of ATTRIBUTION.md gives the same answers twice, and the days that are known come out as known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agents.cognition.reason import Attribution, Confidence, Design, History, Verdict, attribute
from tests.examples.conftest import EXAMPLE, load_module, needs_flights, prepare

SKILL = EXAMPLE / "skills" / "explain-cancellations"
DESIGN = Design(
    {"carrier": ("origin", "hour"), "origin": ("hour",), "dest": ("origin", "hour")}, condition_site="origin"
)
REGIONAL = {"EV", "MQ", "9E", "YV", "OO"}


independent = load_module(Path(__file__).with_name("independent_attribution.py"))
pytestmark = [
    needs_flights,
    pytest.mark.xdist_group("year"),  # which takes half a minute to judge, and is judged once
]


@pytest.fixture(scope="module")
def db(facts: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{facts}' AS facts (READ_ONLY)")
        set_clock(connection, datetime(2014, 1, 1))
        connection.execute((EXAMPLE / "known.sql").read_text())
        connection.execute((EXAMPLE / "units.sql").read_text())
        yield connection


def set_clock(db: duckdb.DuckDBPyConnection, known_at: datetime) -> None:
    db.execute(f"SET VARIABLE known_at = TIMESTAMP '{known_at}'")


def rows(db: duckdb.DuckDBPyConnection, name: str, day: date) -> list[dict[str, Any]]:
    found = db.execute((SKILL / name).read_text(), {"day": day.isoformat()})
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def judge(db: duckdb.DuckDBPyConnection, day: date, known_at: datetime | None = None) -> Attribution:
    set_clock(db, known_at or datetime(day.year, day.month, day.day) + timedelta(days=1))
    (usual,) = rows(db, "usual_rate.sql", day)
    odds = {(r["dimension"], r["value"]): (r["usual_odds"], r["periods"]) for r in rows(db, "usual_odds.sql", day)}
    return attribute(rows(db, "cells.sql", day), History(usual["periods"], usual["usual_rate"], odds), DESIGN)


@pytest.fixture(scope="module")
def year(db: duckdb.DuckDBPyConnection) -> dict[date, Attribution]:
    """All days at their end. The odds of a past day never change, so they are computed once."""
    set_clock(db, datetime(2014, 1, 1))
    db.execute("CREATE TEMP TABLE all_odds AS SELECT * FROM daily_odds")
    db.execute("CREATE OR REPLACE TEMP VIEW daily_odds AS SELECT * FROM all_odds")
    try:
        return {day: judge(db, day) for day in (date(2013, 1, 1) + timedelta(days=i) for i in range(365))}
    finally:
        db.execute((EXAMPLE / "units.sql").read_text())


def test_two_computations_agree_on_every_day(year: dict[date, Attribution]) -> None:
    second = independent.whole_year(prepare.find_source())

    assert {stamp.date() for stamp in second} == set(year)
    for stamp, other in second.items():
        first = year[stamp.date()]
        told = (first.verdict, first.confidence, first.n, first.hits, (first.rest_n, first.rest_hits))
        assert told == (other.verdict, other.confidence, other.n, other.hits, other.rest), stamp
        assert [(s.dimension, s.value) for s in first.causes] == other.causes, stamp
        assert [(s.dimension, s.value) for s in first.also] == other.also, stamp
        assert first.excess == pytest.approx(other.excess, abs=0.001), stamp
        assert [s.p_adjusted for s in first.causes] == pytest.approx(other.p_adjusted, rel=1e-6), stamp
        assert [s.effect for s in first.causes] == pytest.approx(other.effects, abs=0.001), stamp
        if first.condition is None:
            assert other.share is None, stamp
        else:
            assert first.condition.share == pytest.approx(other.share, abs=0.001), stamp
            assert [s.site for s in first.condition.sites] == other.sites, stamp


def test_the_blizzard_is_weather_at_all_three_airports(year: dict[date, Attribution]) -> None:
    found = year[date(2013, 2, 8)]

    assert (found.verdict, found.confidence) == (Verdict.CONDITION, Confidence.HIGH)
    assert found.condition is not None and [s.site for s in found.condition.sites] == ["EWR", "JFK", "LGA"]


def test_the_outage_of_one_carrier_is_a_slice_while_the_day_stays_under_ten_percent(
    year: dict[date, Attribution],
) -> None:
    found = year[date(2013, 4, 16)]

    assert found.verdict is Verdict.SLICE and found.hits < 0.1 * found.n
    assert [(s.dimension, s.value) for s in found.causes] == [("carrier", "AA")]
    assert found.causes[0].condition_share < 0.5


def test_no_regional_carrier_is_ever_the_cause_although_they_head_the_list(year: dict[date, Attribution]) -> None:
    assert not [day for day, found in year.items() if {s.value for s in found.causes} & REGIONAL]


@pytest.mark.parametrize("day", [date(2013, 6, 28), date(2013, 7, 10), date(2013, 7, 11), date(2013, 10, 11)])
def test_bad_days_under_a_clear_sky_are_not_explained(year: dict[date, Attribution], day: date) -> None:
    assert year[day].verdict is Verdict.NOT_EXPLAINED


@pytest.mark.parametrize(("day", "place"), [(date(2013, 7, 6), "SFO"), (date(2013, 4, 18), "ORD")])
def test_a_destination_alone_is_found_on_an_ordinary_day(year: dict[date, Attribution], day: date, place: str) -> None:
    assert [(s.dimension, s.value) for s in year[day].causes] == [("dest", place)]


def test_the_first_two_weeks_are_inconclusive(year: dict[date, Attribution]) -> None:
    open_days = [day for day, found in year.items() if found.verdict is Verdict.INCONCLUSIVE]

    assert open_days == [date(2013, 1, 1) + timedelta(days=i) for i in range(14)]


def test_in_the_afternoon_only_what_was_known_then_counts(db: duckdb.DuckDBPyConnection) -> None:
    found = judge(db, date(2013, 2, 8), datetime(2013, 2, 8, 17))

    assert found.n == db.execute("SELECT count(*) FROM flights WHERE day = DATE '2013-02-08'").fetchall()[0][0]
    assert (found.verdict, found.n) == (Verdict.CONDITION, 671)
