"""One metric gives the same of the same rows, whichever kind of database its connection is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from contracts import Grain, Json, MetricDefinition, PythonFunction
from memory.metrics import MetricRegistry, ValueState
from runtime.capabilities.connections import DuckdbConnection, SqlConnection, SqliteConnection, UrlConnection
from runtime.capabilities.sql import SqlQuery
from runtime.errors import InvalidArguments
from runtime.settings import SqlSettings
from tests.stores import empty_server_database

pytestmark = pytest.mark.anyio
ROWS = [  # a Sunday, the Monday after it, and the last hour of a month
    ("2013-02-10 23:30:00", "EWR", 1), ("2013-02-11 00:00:00", "EWR", 0), ("2013-02-11 09:05:00", "JFK", 1),
    ("2013-02-11 09:55:00", "EWR", 1), ("2013-02-28 23:59:59", "上海", 0),
]  # fmt: skip
NOON = datetime(2013, 3, 5, 12, tzinfo=UTC)
METRIC = MetricDefinition.model_validate({
    "name": "rate", "title": "Rate", "source": "data", "over": "flights", "time": "due",
    "value": "avg(cancelled * 1.0)", "unit": "share", "grains": ["hour", "day", "week", "month"],
    "dimensions": {"origin": "origin"}, "owner": "desk",
})  # fmt: skip


@contextmanager
def filled(kind: str, folder: Path) -> Iterator[SqlConnection]:
    """Give a connection to a database with the rows."""
    if kind == "duckdb":
        import duckdb

        with duckdb.connect(str(folder / "data.db")) as made:
            made.execute("CREATE TABLE flights (due TIMESTAMP, origin TEXT, cancelled INTEGER)")
            made.executemany("INSERT INTO flights VALUES (?, ?, ?)", ROWS)
        yield DuckdbConnection(kind="duckdb", file="data.db")
        return
    if kind == "sqlite":
        _fill(f"sqlite:///{folder / 'data.db'}", "TEXT")
        yield SqliteConnection(kind="sqlite", file="data.db")
        return
    with contextmanager(empty_server_database)(kind, migrate=False) as url:
        driver = {"mysql": "mysql+pymysql", "postgresql": "postgresql+psycopg"}[kind]
        _fill(f"{driver}{url[url.index('://') :]}", {"mysql": "DATETIME", "postgresql": "TIMESTAMP"}[kind])
        yield UrlConnection(kind="url", url=url)


def _fill(url: str, moments: str) -> None:
    engine = create_engine(url)
    with engine.begin() as made:
        made.execute(text(f"CREATE TABLE flights (due {moments}, origin VARCHAR(20), cancelled INTEGER)"))
        rows = [{"due": due, "origin": origin, "cancelled": cancelled} for due, origin, cancelled in ROWS]
        made.execute(text("INSERT INTO flights VALUES (:due, :origin, :cancelled)"), rows)
    engine.dispose()


class Data:
    """The metric over a connection."""

    def __init__(self, connection: SqlConnection, folder: Path) -> None:
        self.sql = SqlQuery("data", connection, folder=folder, time_zone="UTC", settings=SqlSettings())

    async def query(
        self, source: str, sql: str, parameters: dict[str, Json], known_at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        table = await self.sql.query(sql.replace("FROM flights", f"FROM {self.table}"), parameters, known_at)
        return [row for row in table.rows if isinstance(row, dict)]

    @property
    def table(self) -> str:
        return "facts.flights" if self.sql.database == "duckdb" else "flights"

    def registry(self, metric: MetricDefinition = METRIC, **more: Any) -> MetricRegistry:
        return MetricRegistry([metric], self.query, database_of=lambda source: self.sql.database, **more)


@pytest.fixture(params=["duckdb", "sqlite", "mysql", "postgresql"])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Data]:
    with filled(request.param, tmp_path) as connection:
        made = Data(connection, tmp_path)
        yield made
        made.sql.close()


@pytest.mark.parametrize(
    ("grain", "start", "end", "expected"),
    [
        (Grain.HOUR, (2013, 2, 11, 0), (2013, 2, 11, 10), {"2013-02-11T00:00": (0.0, 1), "2013-02-11T09:00": (1.0, 2)}),
        (Grain.DAY, (2013, 2, 10), (2013, 2, 12), {"2013-02-10": (1.0, 1), "2013-02-11": (2 / 3, 3)}),
        (Grain.WEEK, (2013, 2, 4), (2013, 2, 18), {"2013-02-04": (1.0, 1), "2013-02-11": (2 / 3, 3)}),
        (Grain.MONTH, (2013, 2, 1), (2013, 4, 1), {"2013-02-01": (0.6, 5)}),
    ],
)
async def test_buckets_begin_where_they_do_everywhere(
    data: Data, grain: Grain, start: tuple[int, ...], end: tuple[int, ...], expected: Mapping[str, tuple[float, int]]
) -> None:
    first, last = datetime(*start), datetime(*end)  # type: ignore[misc]
    read = await data.registry().read("rate", grain, at=NOON, start=first, end=last)

    found = {each.start.strftime("%Y-%m-%d" + ("T%H:00" if grain is Grain.HOUR else "")): each for each in read.values}
    there = {name: (each.value, each.n) for name, each in found.items() if each.state is ValueState.VALUE}
    assert there == {name: (pytest.approx(value, abs=1e-4), n) for name, (value, n) in expected.items()}


async def test_slices_are_kept_and_split_by_parameters(data: Data) -> None:
    span = {"at": NOON, "start": datetime(2013, 2, 11), "end": datetime(2013, 3, 1)}
    one = await data.registry().read("rate", Grain.DAY, where={"origin": "上海"}, **span)
    assert [(each.start.day, each.n) for each in one.values if each.n] == [(28, 1)]

    split = await data.registry().read("rate", Grain.MONTH, by=["origin"], **{**span, "start": datetime(2013, 2, 1)})
    assert {each.dimensions["origin"]: each.n for each in split.values} == {"EWR": 3, "JFK": 1, "上海": 1}


async def test_python_gets_its_rows_in_order_or_says_that_it_cannot(data: Data) -> None:
    by_python = METRIC.model_copy(update={
        "value": None, "takes": {"cancelled": "cancelled"},
        "python": PythonFunction(file="rate.py", text="def value(cancelled): ..."),
    })  # fmt: skip
    seen = []

    async def run(script: str, name: str, inputs: Mapping[str, Any]) -> Json:
        seen.extend(bucket["cancelled"] for bucket in inputs["buckets"])
        return [len(bucket["cancelled"]) for bucket in inputs["buckets"]]

    reading = data.registry(by_python, run=run).value("rate", "day", at=NOON, bucket="2013-02-11")
    if data.sql.database in ("mysql", "sqlite"):
        with pytest.raises(InvalidArguments, match=r"rows in their order, which (mysql|sqlite) cannot give"):
            await reading
    else:
        [value] = await reading
        assert (value.value, seen) == (3.0, [[0, 1, 1]])
