"""The analytical file is whole, its derived times are right, and a moment shows only what was known then."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.examples.conftest import EXAMPLE, needs_flights, prepare

pytestmark = needs_flights


@pytest.fixture(scope="module")
def db(facts: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{facts}' AS facts (READ_ONLY)")
        connection.execute((EXAMPLE / "known.sql").read_text())
        yield connection


def ask(db: duckdb.DuckDBPyConnection, known_at: str, sql: str) -> list[tuple[Any, ...]]:
    db.execute(f"SET VARIABLE known_at = TIMESTAMP '{known_at}'")
    return db.execute(sql).fetchall()


YEAR_END = "2014-01-02 12:00"


def test_a_second_preparation_does_nothing(facts: Path) -> None:
    before = (facts.stat().st_mtime_ns, facts.stat().st_ino)

    assert prepare.prepare(prepare.find_source(), facts)["created"] is False
    assert (facts.stat().st_mtime_ns, facts.stat().st_ino) == before


def test_a_torn_file_is_built_anew(tmp_path: Path) -> None:
    target = tmp_path / "flights.duckdb"
    target.write_bytes(b"half a file")

    assert prepare.prepare(prepare.find_source(), target)["created"] is True
    assert [p.name for p in tmp_path.iterdir()] == ["flights.duckdb"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "weather.csv").unlink(), "weather.csv is missing"),
        (lambda folder: replace(folder / "airlines.csv", "carrier,name", "code,name"), "missing carrier; unknown code"),
        (lambda folder: replace(folder / "planes.csv", "N10156,2004", "N10156,new"), "planes.csv cannot be read"),
        (lambda folder: (folder / "airlines.csv").write_text("carrier,name\n"), "airlines.csv has 0 rows where 16"),
        (lambda folder: (folder / "flights.csv.zip").write_bytes(b"no zip"), "cannot be unpacked"),
        (lambda folder: (folder / "airports.csv").write_text(""), "other columns than expected"),
    ],
)
def test_a_faulty_source_is_named_and_leaves_no_file(tmp_path: Path, spoil: Any, message: str) -> None:
    folder = tmp_path / "source"
    shutil.copytree(prepare.find_source(), folder)
    spoil(folder)

    with pytest.raises(prepare.SourceFault, match=message):
        prepare.prepare(folder, tmp_path / "out" / "flights.duckdb")
    assert not list((tmp_path / "out").iterdir())


def replace(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new, 1))


def test_every_arrival_follows_its_departure_by_at_least_the_time_in_the_air(db: duckdb.DuckDBPyConnection) -> None:
    sql = """SELECT count(*), count(*) FILTER (minutes < air_time), max(minutes - air_time), max(minutes)
             FROM (SELECT air_time, date_diff('minute', actual_departure_utc, actual_arrival_utc) AS minutes
                   FROM facts.flights WHERE air_time IS NOT NULL)"""
    ((arrived, too_fast, longest_taxi, longest),) = db.execute(sql).fetchall()

    assert (arrived, too_fast) == (327_346, 0)
    assert longest_taxi < 300 and longest < 24 * 60


def test_the_printed_arrival_delay_agrees_with_the_clocks(db: duckdb.DuckDBPyConnection) -> None:
    sql = """WITH clocks AS (
                 SELECT arr_time // 100 % 24 * 60 + arr_time % 100 AS arrived, arr_delay,
                        sched_arr_time // 100 * 60 + sched_arr_time % 100 AS planned
                 FROM facts.flights WHERE arr_delay IS NOT NULL
             )
             SELECT count(*) FROM clocks WHERE (arrived - arr_delay - planned) % 1440 <> 0"""

    assert db.execute(sql).fetchall() == [(0,)]


def test_nothing_of_the_future_is_shown(db: duckdb.DuckDBPyConnection) -> None:
    sql = """SELECT greatest(max(scheduled_departure), max(actual_departure), max(actual_arrival),
                             (SELECT max(known_from) FROM weather)) <= getvariable('known_at') FROM flights"""

    for moment in ("2013-02-08 17:00", "2013-03-10 02:30", "2013-11-03 01:30", "2013-12-31 23:59"):
        assert ask(db, moment, sql) == [(True,)]


def test_each_state_shows_just_its_own_columns(db: duckdb.DuckDBPyConnection) -> None:
    sql = """SELECT status, count(*), count(dep_time), count(dep_delay), count(arr_time), count(*) FILTER (cancelled)
             FROM flights WHERE day = '2013-02-08' GROUP BY status ORDER BY status"""

    assert ask(db, "2013-02-08 17:00", sql) == [
        ("arrived", 375, 375, 375, 375, 0),
        ("cancelled", 213, 0, 0, 0, 213),
        ("departed", 81, 81, 81, 0, 0),
        ("waiting", 2, 0, 0, 0, 0),
    ]


def test_days_over_the_limits(db: duckdb.DuckDBPyConnection) -> None:
    cancelled = "SELECT count(*) FROM (SELECT day FROM flights GROUP BY day HAVING avg(cancelled::INT) > 0.10)"
    late = "SELECT count(*) FROM (SELECT day FROM flights GROUP BY day HAVING avg(dep_delay) > 40)"

    assert ask(db, YEAR_END, cancelled) == [(17,)]
    assert ask(db, YEAR_END, late) == [(20,)]


def test_hours_and_episodes_over_the_limit(db: duckdb.DuckDBPyConnection) -> None:
    sql = """
        WITH hours AS (
            SELECT day + to_hours(hour) AS start, avg(cancelled::INT) AS rate
            FROM flights GROUP BY ALL HAVING count(*) >= 10
        ), numbered AS (
            SELECT *, row_number() OVER (ORDER BY start) AS i FROM hours
        ), runs AS (
            SELECT *, i - row_number() OVER (ORDER BY i) AS run FROM numbered WHERE rate > 0.15
        ), placed AS (
            SELECT *, row_number() OVER (PARTITION BY run ORDER BY i) AS place FROM runs
        ), held AS (
            SELECT *, date_diff('hour', lag(start) OVER (ORDER BY start), start) AS gap FROM placed WHERE place >= 3
        )
        SELECT count(*), count(*) FILTER (gap IS NULL OR gap > 12) FROM held"""

    assert ask(db, YEAR_END, sql) == [(97, 20)]


def test_the_faults_of_the_readings(db: duckdb.DuckDBPyConnection) -> None:
    impossible = (
        "SELECT origin, day::VARCHAR, hour, round(wind_speed) FROM weather WHERE wind_speed > 253 OR wind_gust > 253"
    )
    doubled = "SELECT origin, day::VARCHAR, hour, count(*) FROM weather GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"
    bare = """SELECT count(*), count(DISTINCT (origin, day, hour)), count(DISTINCT day) FROM flights f
              WHERE date_trunc('hour', scheduled_departure) + INTERVAL 1 HOUR <= getvariable('known_at')
                AND NOT EXISTS (SELECT 1 FROM weather w
                                WHERE w.origin = f.origin AND w.day = f.day AND w.hour = f.hour)"""

    assert ask(db, "2013-02-12 03:59", impossible) == []
    assert ask(db, "2013-02-12 04:00", impossible) == [("EWR", "2013-02-12", 3, 1048.0)]
    assert ask(db, YEAR_END, doubled) == [(o, "2013-11-03", 1, 2) for o in ("EWR", "JFK", "LGA")]
    assert ask(db, YEAR_END, bare) == [(1556, 108, 16)]
