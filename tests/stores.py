"""Real stores for tests: SQLite always, MySQL/MariaDB and PostgreSQL where a server answers.

A suite takes the fixtures into its conftest: `from tests.stores import clock, sqlite_store, store, store_url`.
SILICON_TEST_MYSQL_URL and SILICON_TEST_POSTGRES_URL name other servers; their user must be able to make databases.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from runtime.ledger import open_store, upgrade
from runtime.ledger.database import FILE_NAME
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

KINDS = ("sqlite", "mysql", "postgresql")
SERVERS = {
    "mysql": os.environ.get("SILICON_TEST_MYSQL_URL", "mysql://root@127.0.0.1:3306/"),
    "postgresql": os.environ.get("SILICON_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres"),
}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def sqlite_store(tmp_path: Path, clock: HandClock) -> AsyncIterator[SqlStore]:
    """An empty store in a file of its own."""
    lay_empty_ledger(tmp_path)
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
    yield store
    await store.close()


@cache
def _empty_ledger() -> bytes:
    """The file of an empty ledger: making one takes as long as many a test."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, FILE_NAME)
        upgrade(f"sqlite:///{file}")
        return file.read_bytes()


def lay_empty_ledger(home: Path) -> None:
    """Put the file there that a process makes when it first opens the ledger of a home folder."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / FILE_NAME).write_bytes(_empty_ledger())


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "sqlite":
        lay_empty_ledger(tmp_path)
        return f"sqlite:///{tmp_path / FILE_NAME}"
    url: str = request.getfixturevalue(f"{request.param}_database")
    _empty(url)
    return url


@pytest.fixture
async def store(store_url: str, tmp_path: Path, clock: HandClock) -> AsyncIterator[SqlStore]:
    """An empty store of each kind."""
    store = await open_store(LedgerSettings(url=store_url, synchronous="NORMAL"), home=tmp_path, clock=clock)
    yield store
    await store.close()


@pytest.fixture(scope="session")
def mysql_database() -> Iterator[str]:
    """A database of this test process, migrated; dropped in the end."""
    yield from empty_server_database("mysql")


@pytest.fixture(scope="session")
def postgresql_database() -> Iterator[str]:
    """A database of this test process, migrated; dropped in the end."""
    yield from empty_server_database("postgresql")


def empty_server_database(kind: str, *, migrate: bool = True) -> Iterator[str]:
    """Yield the address of a new database on a server and drop it afterwards; skip where no server answers."""
    from sqlalchemy import make_url

    name = f"silicon_test_{os.getpid()}_{secrets.token_hex(3)}"
    _on_server(kind, f"CREATE DATABASE {name}")
    if kind == "postgresql":  # what a test commits survives any process, and needs to survive no power cut
        _on_server(kind, f"ALTER DATABASE {name} SET synchronous_commit = off")
    url = make_url(SERVERS[kind]).set(database=name).render_as_string(hide_password=False)
    try:
        if migrate:
            upgrade(url)
        yield url
    finally:
        _on_server(kind, f"DROP DATABASE {name}")


def _on_server(kind: str, statement: str) -> None:
    """Run a statement on the server, or skip the test, saying why."""
    try:
        with closing(_connect(kind)) as connection:
            connection.cursor().execute(statement)
    except Exception as error:
        pytest.skip(f"no {kind} server at {SERVERS[kind].rpartition('@')[2]}: {error}")


def _connect(kind: str) -> Any:
    from sqlalchemy import make_url

    url = make_url(SERVERS[kind])
    if kind == "mysql":
        import pymysql

        return pymysql.connect(
            host=url.host, port=url.port or 3306, user=url.username, password=str(url.password or ""), connect_timeout=3
        )
    import psycopg

    return psycopg.connect(url.render_as_string(hide_password=False), autocommit=True, connect_timeout=3)


def _empty(url: str) -> None:
    from sqlalchemy import create_engine

    from runtime.ledger.database import parse_address
    from runtime.ledger.schema import counter, metadata

    engine = create_engine(parse_address(url))
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            if table is not counter:
                connection.execute(table.delete())
        connection.execute(counter.update().values(position=0))
    engine.dispose()
