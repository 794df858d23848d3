"""Queries on real servers; SQLite stands in `test_sql.py`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from runtime.capabilities.connections import UrlConnection
from runtime.capabilities.sql import SqlQuery
from runtime.errors import AccessDenied, CapabilityTimeout, InvalidArguments, NetworkFault, PermissionRefused
from runtime.ledger.database import parse_address
from runtime.settings import SqlSettings
from tests.fakes.calls import NOW
from tests.stores import empty_server_database

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=["mysql", "postgresql"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    for url in empty_server_database(request.param, migrate=False):
        engine = create_engine(parse_address(url))
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE waivers (day DATE, fee DECIMAL(9, 2))"))
            connection.execute(text("INSERT INTO waivers VALUES ('2013-02-08', 12.5), ('2013-02-09', 4)"))
        engine.dispose()
        yield url


@pytest.fixture
def query(address: str) -> Iterator[SqlQuery]:
    connection = UrlConnection(kind="url", url=address)
    made = SqlQuery("books", connection, folder=Path(), time_zone="UTC", settings=SqlSettings(timeout_s=2, rows=10))
    yield made
    made.close()


async def test_rows_of_a_server_are_plain_values(query: SqlQuery) -> None:
    table = await query.query("SELECT day, fee FROM waivers WHERE day = :day", {"day": "2013-02-08"}, NOW)

    assert table.rows == [{"day": "2013-02-08", "fee": 12.5}]
    assert table.data_sha256 is None


@pytest.mark.parametrize(
    "sql", ["DELETE FROM waivers", "SELECT 1; DELETE FROM waivers", "SELECT 1 INTO OUTFILE '/tmp/x'"]
)
async def test_a_server_is_only_read(query: SqlQuery, sql: str) -> None:
    with pytest.raises(PermissionRefused):
        await query.query(sql, {}, NOW)


async def test_a_column_that_a_server_does_not_have_is_named(query: SqlQuery) -> None:
    with pytest.raises(InvalidArguments, match="fees"):
        await query.query("SELECT fees FROM waivers", {}, NOW)


@pytest.fixture
def without_rights(address: str) -> Iterator[str]:
    """The address of the same database for an account that may read another table of it, and not this one."""
    name, url = f"reader_{uuid4().hex[:12]}", make_url(parse_address(address))
    engine = create_engine(url)
    mysql = url.get_backend_name() == "mysql"
    make = [f"CREATE USER {name}@'%' IDENTIFIED BY 'x'"] if mysql else [f"CREATE ROLE {name} LOGIN PASSWORD 'x'"]
    make += ["CREATE TABLE IF NOT EXISTS open_to_all (n INTEGER)", f"GRANT SELECT ON open_to_all TO {name}"]
    end = [f"DROP USER {name}@'%'"] if mysql else [f"DROP OWNED BY {name}", f"DROP ROLE {name}"]
    for statements in (make, None, end):
        if statements is None:
            yield url.set(username=name, password="x").render_as_string(hide_password=False)
            continue
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
    engine.dispose()


async def test_a_right_that_the_account_lacks_is_told_as_such(without_rights: str) -> None:
    connection = UrlConnection(kind="url", url=without_rights)
    query = SqlQuery("books", connection, folder=Path(), time_zone="UTC", settings=SqlSettings(timeout_s=30))
    with pytest.raises(AccessDenied, match="The account of connection books may not read that"):
        await query.query("SELECT fee FROM waivers", {}, NOW)
    query.close()


async def test_a_query_out_of_time_is_stopped_on_the_server(query: SqlQuery, address: str) -> None:
    sleep = "SELECT SLEEP(90) AS s" if address.startswith("mysql") else "SELECT pg_sleep(90) AS s"
    began = time.monotonic()
    with pytest.raises(CapabilityTimeout, match="took longer than 2 s"):
        await query.query(sleep, {}, NOW)

    assert time.monotonic() - began < 60


async def test_a_query_that_its_server_stops_first_is_out_of_time_too(postgresql_database: str) -> None:
    """Both clocks run for the same time: which one is first is nobody's to say."""
    connection = UrlConnection(kind="url", url=postgresql_database)
    query = SqlQuery("books", connection, folder=Path(), time_zone="UTC", settings=SqlSettings(timeout_s=30))
    asked = asyncio.ensure_future(query.query("SELECT pg_sleep(20) AS s", {}, NOW))

    await asyncio.to_thread(_cancel_sleep, postgresql_database)
    with pytest.raises(CapabilityTimeout):
        await asyncio.wait_for(asked, 60)
    query.close()


def _cancel_sleep(url: str) -> None:
    sleeping = "datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_sleep(20)%'"
    engine = create_engine(parse_address(url))
    deadline = time.monotonic() + 60
    with engine.connect() as connection:
        while not connection.execute(
            text(f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND {sleeping}")
        ).all():
            assert time.monotonic() < deadline, "the query never began"
            connection.rollback()
    engine.dispose()


async def test_a_server_that_is_not_there_is_a_passing_fault() -> None:
    connection = UrlConnection(kind="url", url="mysql://root:s3cret@127.0.0.1:9/none")
    query = SqlQuery("books", connection, folder=Path(), time_zone="UTC", settings=SqlSettings())
    with pytest.raises(NetworkFault, match="cannot be reached") as raised:
        await query.query("SELECT 1 AS n", {}, NOW)
    query.close()

    assert "s3cret" not in str(raised.value)
