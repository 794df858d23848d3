from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from runtime.capabilities.connections import read_connection
from runtime.capabilities.errors import DataChanged, DataLocked, DataUnavailable
from runtime.capabilities.sql import SqlQuery
from runtime.capabilities.sql_duckdb import DuckdbSource
from runtime.capabilities.sql_table import Table
from runtime.errors import BusinessRefusal, CapabilityTimeout, InvalidArguments, PermissionRefused
from runtime.settings import SqlSettings
from tests.fakes.calls import NOW, a_call

pytestmark = pytest.mark.anyio

KNOWN = """
CREATE TEMP VIEW flights AS SELECT * FROM facts.flights WHERE scheduled <= getvariable('known_at');
CREATE TEMP MACRO flights_of(name) AS TABLE SELECT * FROM flights WHERE carrier = name;
"""
LONG = "SELECT count(*) FROM range(100000000000) t(i) WHERE i % 7 = sqrt(i)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "flights.duckdb") as db:
        db.execute(
            "CREATE TABLE flights AS SELECT TIMESTAMP '2013-02-08 12:00' + INTERVAL (i) HOUR AS scheduled,"
            " DATE '2013-02-08' AS day, CASE i % 2 WHEN 0 THEN 'UA' ELSE 'B6' END AS carrier, i AS dep_delay,"
            " i * 1.5 AS fare, CASE i WHEN 0 THEN 'nan'::DOUBLE ELSE i END AS share FROM range(10) t(i)"
        )
    (tmp_path / "known.sql").write_text(KNOWN)
    return tmp_path


def a_query(folder: Path, **changes: Any) -> SqlQuery:
    settings = SqlSettings(**{"timeout_s": 5, "rows": 100, **changes.pop("settings", {})})
    declared = {"kind": "duckdb", "file": "flights.duckdb", "known": "known.sql", "made_by": "make data", **changes}
    connection = read_connection({key: value for key, value in declared.items() if value is not None})
    return SqlQuery("flights", connection, folder=folder, time_zone="America/New_York", settings=settings)  # type: ignore[arg-type]


async def ask(
    folder: Path, sql: str, parameters: dict[str, Any] | None = None, at: datetime = NOW, **changes: Any
) -> Table:
    query = a_query(folder, **changes)
    try:
        return await query.query(sql, parameters or {}, at)
    finally:
        query.close()


async def test_a_query_sees_only_what_was_known_in_local_time(folder: Path) -> None:
    table = await ask(folder, "SELECT max(scheduled) AS last, count(*) AS n FROM flights")

    assert table.rows == [{"last": "2013-02-08T17:00:00", "n": 6}]


async def test_one_connection_serves_every_moment(folder: Path) -> None:
    query = a_query(folder)
    sql = "SELECT count(*) AS n FROM flights"
    moments = [datetime(2013, 2, 8, hour, tzinfo=UTC) for hour in (16, 17, 23)]
    counts = [(await query.query(sql, {}, at)).rows[0]["n"] for at in moments]
    query.close()

    assert counts == [0, 1, 7]


async def test_arguments_are_parameters_and_variables(folder: Path) -> None:
    sql = "SELECT count(*) AS n FROM flights WHERE day = $day AND carrier = getvariable('at')"

    assert (await ask(folder, sql, {"day": "2013-02-08", "at": "UA"})).rows == [{"n": 3}]


async def test_an_argument_does_not_outlive_its_query(folder: Path) -> None:
    query = a_query(folder)
    await query.query("SELECT getvariable('day') AS d", {"day": "2013-02-08"}, NOW)
    after = await query.query("SELECT getvariable('day') AS d", {}, NOW)
    query.close()

    assert after.rows == [{"d": None}]


async def test_a_moment_with_an_offset_is_compared_as_local_time(folder: Path) -> None:
    sql = "SELECT count(*) AS n FROM flights WHERE scheduled < $until"

    assert (await ask(folder, sql, {"until": "2013-02-08T19:00:00Z"})).rows == [{"n": 2}]


async def test_decimals_are_numbers_and_not_a_number_is_null(folder: Path) -> None:
    table = await ask(folder, "SELECT fare, share, day, [1.5::DECIMAL(9,2)] AS list FROM flights ORDER BY fare LIMIT 2")

    assert table.rows[0] == {"fare": 0, "share": None, "day": "2013-02-08", "list": [1.5]}
    assert table.rows[1]["fare"] == 1.5


@pytest.mark.parametrize(
    "sql",
    [
        "DROP VIEW flights",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "COPY flights TO '/tmp/x.csv'",
        "ATTACH '/tmp/other.db'",
        "SET VARIABLE known_at = TIMESTAMP '2099-01-01'",
        "PRAGMA database_list",
        "CREATE TABLE x AS SELECT 1",
        "FROM (PIVOT facts.flights ON carrier USING sum(dep_delay))",
    ],
)
async def test_anything_but_one_select_is_refused(folder: Path, sql: str) -> None:
    with pytest.raises(PermissionRefused, match="one SELECT"):
        await ask(folder, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM facts.flights",
        'WITH a AS (SELECT 1 FROM "FACTS".main.flights) SELECT * FROM a',
        "SELECT (SELECT count(*) FROM query_table('facts.flights'))",
        "SELECT * FROM query('FROM fac' || 'ts.flights')",
        "SUMMARIZE facts.flights",
    ],
)
async def test_no_query_goes_round_the_views_into_the_future(folder: Path, sql: str) -> None:
    with pytest.raises(PermissionRefused, match="not known yet"):
        await ask(folder, sql)


async def test_macros_of_the_views_can_be_used(folder: Path) -> None:
    assert (await ask(folder, "SELECT count(*) AS n FROM flights_of('UA')")).rows == [{"n": 3}]


async def test_no_file_of_the_machine_can_be_read(folder: Path) -> None:
    with pytest.raises(InvalidArguments, match="disabled by configuration"):
        await ask(folder, "SELECT * FROM read_csv('/etc/passwd')")


async def test_a_column_that_is_not_there_is_named_with_its_neighbours(folder: Path) -> None:
    with pytest.raises(InvalidArguments, match=r"no column dep_dely\. Near: .*dep_delay") as raised:
        await ask(folder, "SELECT dep_dely FROM flights")
    assert raised.value.facts["column"] == "dep_dely"


async def test_without_views_it_is_told_how_a_table_of_the_file_is_called(folder: Path) -> None:
    with pytest.raises(InvalidArguments, match=r"no table or view flights\. .* such as facts\.flights\."):
        await ask(folder, "SELECT * FROM flights", known=None)
    assert (await ask(folder, "SELECT count(*) > 0 AS some FROM facts.flights", known=None)).rows == [{"some": True}]


async def test_a_column_renamed_in_the_data_is_named(folder: Path) -> None:
    with duckdb.connect(folder / "flights.duckdb") as db:
        db.execute("ALTER TABLE flights RENAME scheduled TO scheduled_at")

    with pytest.raises(
        DataChanged, match=r"\(known\.sql\) do not fit its data: there is no column scheduled\. Near: scheduled_at"
    ):
        await ask(folder, "SELECT 1")


async def test_a_parameter_that_nobody_passed_is_named(folder: Path) -> None:
    with pytest.raises(InvalidArguments, match=r"names \$day, but no value was passed"):
        await ask(folder, "SELECT $day")


async def test_an_empty_table_is_an_answer(folder: Path) -> None:
    assert (await ask(folder, "SELECT * FROM flights WHERE false")).rows == []


async def test_more_rows_than_allowed_are_an_error(folder: Path) -> None:
    with pytest.raises(BusinessRefusal, match="more than 5 rows"):
        await ask(folder, "SELECT * FROM flights", settings={"rows": 5})


async def test_two_columns_of_one_name_are_told(folder: Path) -> None:
    with pytest.raises(InvalidArguments, match="two columns named carrier"):
        await ask(folder, "SELECT carrier, carrier FROM flights")


async def test_a_query_out_of_time_stops_working(folder: Path) -> None:
    began = time.monotonic()
    with pytest.raises(CapabilityTimeout, match=r"took longer than 0\.2 s"):
        await ask(folder, LONG, settings={"timeout_s": 0.2})

    assert time.monotonic() - began < 60


async def test_a_cancelled_query_stops_working(folder: Path) -> None:
    query = a_query(folder)
    asked = asyncio.create_task(query.query(LONG, {}, NOW))
    await query.query("SELECT 1 AS one", {}, NOW)
    asked.cancel()
    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await asked
    query.close()


async def test_a_query_that_is_cancelled_just_before_it_begins_stops(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What DuckDB is asked before it executes, it forgets."""
    checking, go_on, check = threading.Event(), threading.Event(), DuckdbSource._check

    def held(source: DuckdbSource, *whole: Any) -> Any:
        checking.set()
        assert go_on.wait(60)
        return check(source, *whole)

    monkeypatch.setattr(DuckdbSource, "_check", held)
    query = a_query(folder)
    asked = asyncio.create_task(query.query(LONG, {}, NOW))
    assert await asyncio.to_thread(checking.wait, 60)
    asked.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert query._source._idle  # type: ignore[attr-defined]  # the connection is back: its query ended
    query.close()


async def test_a_missing_file_names_how_it_is_made(folder: Path) -> None:
    with pytest.raises(DataUnavailable, match=r"is missing: .*none\.duckdb\. It is made by: make data"):
        await ask(folder, "SELECT 1", file="none.duckdb")


async def test_a_file_that_is_no_database_is_told(folder: Path) -> None:
    (folder / "bad.duckdb").write_bytes(b"x" * 50_000)

    with pytest.raises(DataUnavailable, match=r"cannot be opened: .*not a valid DuckDB database file.*make data"):
        await ask(folder, "SELECT 1", file="bad.duckdb")


@pytest.fixture
def writer(folder: Path) -> Iterator[None]:
    """Another process that has the data file open for writing."""
    file = str(folder / "flights.duckdb")
    holds = f"import duckdb; db = duckdb.connect({file!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate(b"\n")


@pytest.mark.usefixtures("writer")
async def test_a_file_that_another_process_writes_is_a_passing_fault(folder: Path) -> None:
    with pytest.raises(DataLocked, match="Another process is writing"):
        await ask(folder, "SELECT 1")


async def test_the_hashes_tell_the_query_and_the_data_apart(folder: Path) -> None:
    first = await ask(folder, "SELECT $a AS a", {"a": 1})
    other = await ask(folder, "SELECT $a AS a", {"a": 2})
    with duckdb.connect(folder / "flights.duckdb") as db:
        db.execute("DELETE FROM flights WHERE dep_delay = 1")
    changed = await ask(folder, "SELECT $a AS a", {"a": 1})

    assert first.query_sha256 == changed.query_sha256 != other.query_sha256
    assert first.data_sha256 == other.data_sha256 != changed.data_sha256


async def test_a_call_tells_how_many_rows_it_read_and_from_what(folder: Path) -> None:
    query = a_query(folder)
    result = await query.call({"sql": {"file": "n.sql", "text": "SELECT 1 AS n"}}, a_call())
    query.close()

    assert result.output == {"rows": [{"n": 1}], "columns": ["n"], "n": 1}
    assert result.evidence[0].facts["query"] == "n.sql"
    assert result.evidence[0].facts["data_sha256"] == result.data_sha256


@pytest.fixture
def sqlite_folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "desk.db") as db:
        db.execute("CREATE TABLE waivers (day TEXT, n INTEGER)")
        db.executemany("INSERT INTO waivers VALUES (?, ?)", [("2013-02-08", 3), ("2013-02-09", 4)])
    db.close()
    return tmp_path


async def ask_sqlite(folder: Path, sql: str, **parameters: Any) -> Table:
    return await ask(folder, sql, parameters, kind="sqlite", file="desk.db", known=None)


async def test_sqlite_takes_named_parameters(sqlite_folder: Path) -> None:
    table = await ask_sqlite(sqlite_folder, "SELECT n FROM waivers WHERE day = :day", day="2013-02-08")

    assert table.rows == [{"n": 3}]


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM waivers", "SELECT 1; SELECT 2", "WITH a AS (SELECT 1) DELETE FROM waivers", "PRAGMA user_version"],
)
async def test_sqlite_only_reads(sqlite_folder: Path, sql: str) -> None:
    with pytest.raises(PermissionRefused):
        await ask_sqlite(sqlite_folder, sql)


async def test_sqlite_names_what_is_wrong(sqlite_folder: Path) -> None:
    with pytest.raises(InvalidArguments, match="no such column: m"):
        await ask_sqlite(sqlite_folder, "SELECT m FROM waivers")


async def test_a_server_address_is_read_in_a_transaction_that_cannot_write(sqlite_folder: Path) -> None:
    address = f"sqlite:///{sqlite_folder / 'desk.db'}"
    table = await ask(
        sqlite_folder, "SELECT sum(n) AS n FROM waivers", kind="url", url=address, file=None, known=None, made_by=None
    )

    assert table.rows == [{"n": 7}]
    assert table.data_sha256 is None
