"""Queries on SQLite files and database servers, in transactions that cannot write."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import URL, Connection, create_engine, make_url, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from runtime.capabilities.connections import SqliteConnection, UrlConnection
from runtime.capabilities.data_files import sha256_of, state_of
from runtime.capabilities.errors import DataUnavailable
from runtime.capabilities.sql_table import (
    Interrupt,
    Query,
    QueryStopped,
    Table,
    bind_value,
    local_time,
    take_parameters,
    to_table,
)  # fmt: skip
from runtime.errors import AccessDenied, CapabilityFailed, InvalidArguments, NetworkFault, PermissionRefused

_NOISE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", re.DOTALL)
_READS = re.compile(r"^\s*(select|with|values)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(insert|update|delete|merge|replace\s+into|into|drop|alter|create|grant|call|truncate|lock)\b", re.IGNORECASE
)
_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql", "postgresql": "postgresql+psycopg"}
_MYSQL_CLIENT = 2_000
"""Error numbers from here on are the client's: no connection, or a lost one."""
_MYSQL_REFUSALS = (1040, 1044, 1045, 1049, 1129, 1130, 1203)
"""Too many connections, wrong account, no such database, host blocked."""
_MYSQL_NO_RIGHT = (1142, 1143, 1227, 1370)
"""A right of the account is missing: for a table, a column, an operation, a routine."""
_NO_RIGHT = "42501"
"""The same in PostgreSQL."""
_STOPPED = ("Query execution was interrupted", "canceling statement due to", "interrupted")
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


class SqliteSource:
    """One SQLite file, opened read-only; the database itself refuses everything but reading."""

    def __init__(self, name: str, connection: SqliteConnection, *, folder: Path, zone: ZoneInfo) -> None:
        self._name = name
        self._connection = connection
        self._path = folder / connection.file
        self._zone = zone

    def run(self, query: Query, interrupt: Interrupt) -> Table:
        """Return the answer; blocks, so call it in a thread."""
        state = state_of(self._path, connection=self._name, made_by=self._connection.made_by)
        engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        try:
            with engine.connect() as connection:
                raw: Any = connection.connection.dbapi_connection
                raw.set_authorizer(_only_reading)
                columns, rows = _select(
                    self._name, connection, query, zone=self._zone, interrupt=interrupt, stop=raw.interrupt
                )
        except DBAPIError as error:
            if "interrupted" in str(error.orig):
                raise QueryStopped from None
            raise self._fault(error) from error
        return to_table(query, columns, rows, data_sha256=sha256_of(state))

    def close(self) -> None:
        """Nothing is kept open."""

    def _connect(self) -> sqlite3.Connection:
        address = self._path.resolve().as_uri() + "?mode=ro"
        connection = sqlite3.connect(address, uri=True, timeout=5, check_same_thread=False)
        connection.execute("PRAGMA query_only = 1")
        return connection

    def _fault(self, error: DBAPIError) -> CapabilityFailed:
        why = str(error.orig)
        if "not authorized" in why or "prohibited" in why:
            return PermissionRefused(
                f"A query on {self._name} only reads; this one would do more ({why}).", connection=self._name
            )
        if "not a database" in why or "unable to open" in why or "malformed" in why:
            how = f" Make it again with: {self._connection.made_by}" if self._connection.made_by else ""
            return DataUnavailable(
                f"The data file of connection {self._name} cannot be opened: {self._path} ({why}).{how}",
                connection=self._name, file=str(self._path),
            )  # fmt: skip
        return InvalidArguments(f"The query on connection {self._name} cannot run: {why}.", connection=self._name)


class UrlSource:
    """One database server, reached through SQLAlchemy."""

    def __init__(self, name: str, connection: UrlConnection, *, zone: ZoneInfo, timeout_s: float) -> None:
        self._name = name
        self._zone = zone
        self._timeout_s = timeout_s
        self._url = url_of(connection)
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def run(self, query: Query, interrupt: Interrupt) -> Table:
        """Return the answer; blocks, so call it in a thread."""
        try:
            with self._engine_now().connect() as connection:
                raw: Any = connection.connection.dbapi_connection
                for statement in _read_only(connection.dialect.name, self._timeout_s):
                    connection.execute(text(statement))
                columns, rows = _select(
                    self._name, connection, query, zone=self._zone, interrupt=interrupt,
                    stop=lambda: _stop_on_server(connection, raw),
                )  # fmt: skip
                connection.rollback()
        except SQLAlchemyError as error:
            raise self._fault(error) from error
        return to_table(query, columns, rows)

    def close(self) -> None:
        """Close the pool."""
        if self._engine is not None:
            self._engine.dispose()

    def _engine_now(self) -> Engine:
        with self._lock:
            if self._engine is None:
                try:
                    self._engine = create_engine(self._url, pool_pre_ping=True, pool_size=2, hide_parameters=True)
                except ModuleNotFoundError as error:
                    raise DataUnavailable(
                        f"Connection {self._name} needs the Python package {error.name}, which is not installed.",
                        connection=self._name, package=error.name,
                    ) from error  # fmt: skip
            return self._engine

    def _fault(self, error: SQLAlchemyError) -> Exception:
        why = str(getattr(error, "orig", error))
        if any(sign in why for sign in _STOPPED):
            return QueryStopped()
        if isinstance(error, OperationalError) and _no_connection(self._url, error):
            shown = self._url.set(query={}).render_as_string(hide_password=True)
            return NetworkFault(
                f"The database of connection {self._name} at {shown} cannot be reached: {why}.",
                connection=self._name, happened="no",
            )  # fmt: skip
        if _has_no_right(self._url, error):
            return AccessDenied(
                f"The account of connection {self._name} may not read that: {why}. Grant it on the server, or ask for "
                "something else.",
                connection=self._name, happened="no",
            )  # fmt: skip
        return InvalidArguments(f"The query on connection {self._name} cannot run: {why}.", connection=self._name)


def _has_no_right(url: URL, error: SQLAlchemyError) -> bool:
    """Whether the server says that the account lacks a right (SQLSTATE 42501; MySQL's numbers of the same meaning)."""
    raw: Any = getattr(error, "orig", None)
    if url.get_backend_name() in ("mysql", "mariadb"):
        return bool(raw is not None and raw.args and raw.args[0] in _MYSQL_NO_RIGHT)
    return getattr(raw, "sqlstate", None) == _NO_RIGHT


def url_of(connection: UrlConnection) -> URL:
    """Return the address of a server, with the driver that comes along where it names none."""
    url = make_url(connection.url)
    return url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))


def _no_connection(url: URL, error: OperationalError) -> bool:
    """Whether the server was not reached. MySQL files wrong columns under the same kind, with numbers of their own."""
    code = error.orig.args[0] if error.orig is not None and error.orig.args else None
    if url.get_backend_name() in ("mysql", "mariadb"):
        return isinstance(code, int) and (code >= _MYSQL_CLIENT or code in _MYSQL_REFUSALS)
    return url.get_backend_name() != "sqlite"


def _only_reading(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _stop_on_server(connection: Connection, raw: Any) -> None:
    """Stop the query that runs on a connection, from another thread."""
    match connection.dialect.name:
        case "postgresql":
            raw.cancel()
        case "mysql" | "mariadb":
            with connection.engine.connect() as other:
                other.execute(text(f"KILL QUERY {int(raw.thread_id())}"))
        case "sqlite":
            raw.interrupt()


def _read_only(dialect: str, timeout_s: float) -> list[str]:
    """Statements that keep a server from writing and from working longer than anybody waits."""
    milliseconds = int(timeout_s * 1_000)
    match dialect:
        case "postgresql":
            return ["SET TRANSACTION READ ONLY", f"SET LOCAL statement_timeout = {milliseconds}"]
        case "mysql" | "mariadb":
            return ["ROLLBACK", "START TRANSACTION READ ONLY"]
    return []


def _select(
    name: str, connection: Connection, query: Query, *, zone: ZoneInfo, interrupt: Interrupt, stop: Callable[[], None]
) -> tuple[list[str], list[Any]]:
    statement = text(_one_select(name, query.sql))
    given = {"known_at": local_time(query.known_at, zone)}
    given.update((key, bind_value(value, zone)) for key, value in query.parameters.items())
    used = take_parameters(set(statement.compile().params), given, ":")
    with interrupt.armed(stop):
        found = connection.execute(statement, {key: _plain(connection, value) for key, value in used.items()})
        return list(found.keys()), list(found.fetchmany(query.rows + 1))


def _plain(connection: Connection, value: Any) -> Any:
    """SQLite has no dates; they are compared as ISO text."""
    if connection.dialect.name != "sqlite" or not isinstance(value, date):
        return value
    return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()


def _one_select(name: str, sql: str) -> str:
    bare = _NOISE.sub(" ", sql).strip().rstrip(";")
    if ";" in bare or not _READS.match(bare) or _WRITES.search(bare):
        raise PermissionRefused(
            f"A query on {name} is one SELECT; this text is something else or would write.", connection=name
        )
    return sql.strip().rstrip(";")
