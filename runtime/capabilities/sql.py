"""`NAME.query`: one SELECT on a declared connection, as of the moment the order may see."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import sha256
from runtime.capabilities.connections import DuckdbConnection, SqlConnection, SqliteConnection, UrlConnection
from runtime.capabilities.port import CallContext, CallResult
from runtime.capabilities.resources import name_of, text_of
from runtime.capabilities.specs import sql_spec
from runtime.capabilities.sql_alchemy import SqliteSource, UrlSource, url_of
from runtime.capabilities.sql_duckdb import DuckdbSource
from runtime.capabilities.sql_table import Interrupt, Query, QueryStopped, Table
from runtime.errors import CapabilityTimeout
from runtime.settings import SqlSettings


class Source(Protocol):
    """A place that answers queries."""

    def run(self, query: Query, interrupt: Interrupt) -> Table:
        """Return the answer; blocks."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


def source_for(
    name: str,
    connection: SqlConnection,
    *,
    folder: Path,
    time_zone: str,
    settings: SqlSettings,
    views: Mapping[str, str] | None = None,
) -> Source:
    """Return what answers the queries of a connection; nothing is opened yet."""
    zone = ZoneInfo(time_zone)
    match connection:
        case DuckdbConnection():
            return DuckdbSource(name, connection, folder=folder, zone=zone, views=views)
        case SqliteConnection():
            return SqliteSource(name, connection, folder=folder, zone=zone)
        case UrlConnection():
            return UrlSource(name, connection, zone=zone, timeout_s=settings.timeout_s)


def database_of(connection: SqlConnection) -> str:
    """Return the kind of database behind a connection."""
    return url_of(connection).get_backend_name() if isinstance(connection, UrlConnection) else connection.kind


_PATIENCE_S = (0.1, 0.2, 0.4, 0.8, 1.6, 2.0)
"""How long a query may take to stop after each time that it was asked; 5 s in all."""


class SqlQuery:
    """The capability. Arguments beside `sql` are the query's named parameters."""

    def __init__(
        self,
        name: str,
        connection: SqlConnection,
        *,
        folder: Path,
        time_zone: str,
        settings: SqlSettings,
        views: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = sql_spec(name, connection, settings)
        self._name = name
        self._settings = settings
        self._source = source_for(name, connection, folder=folder, time_zone=time_zone, settings=settings, views=views)
        self.database = database_of(connection)
        """Which kind it asks, as SQLAlchemy calls it; `duckdb`, `sqlite`, `postgresql`, `mysql`, …"""

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return rows as objects, the columns in order, and how many rows there are."""
        parameters = {key: value for key, value in arguments.items() if key != "sql"}
        table = await self.query(text_of(arguments["sql"]), parameters, context.known_at)
        output = {"rows": table.rows, "columns": list(table.columns), "n": len(table.rows)}
        facts: dict[str, Json] = {
            "connection": self._name,
            "query": name_of(arguments["sql"]) or "written in the plan",
            "query_sha256": table.query_sha256,
            "data_sha256": table.data_sha256,
            "row_count": len(table.rows),
            "known_at": context.known_at.isoformat(),
        }
        seen = EvidenceItem(
            kind=EvidenceKind.ROWS, at=context.now, step=context.step, capability=self.spec.name,
            sha256=sha256(output), facts=facts,
        )  # fmt: skip
        return CallResult(output, evidence=(seen,), query_sha256=table.query_sha256, data_sha256=table.data_sha256)

    async def query(self, sql: str, parameters: Mapping[str, Json], known_at: datetime) -> Table:
        """Return the answer of one SELECT. Cancelled or out of time, the database stops working on it.

        Raises:
            PermissionRefused: it is not one SELECT, or reads what was not known yet.
            InvalidArguments: the query or its parameters do not fit.
            CapabilityTimeout, DataUnavailable, DataChanged, DataLocked, NetworkFault: see their words.
        """
        interrupt = Interrupt()
        work = asyncio.create_task(
            asyncio.to_thread(self._source.run, Query(sql, parameters, known_at, self._settings.rows), interrupt)
        )
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await asyncio.shield(work)
        except (TimeoutError, QueryStopped):  # a server keeps the time too, and may be the first to say so
            raise CapabilityTimeout(
                f"The query on connection {self._name} took longer than {self._settings.timeout_s:g} s and was "
                "stopped. Ask for less, or raise the setting sql.timeout_s.",
                connection=self._name, timeout_s=self._settings.timeout_s,
            ) from None  # fmt: skip
        finally:
            if not work.done():
                await _stop(work, interrupt)

    def close(self) -> None:
        """Let go of open connections."""
        self._source.close()


async def _stop(work: asyncio.Task[Table], interrupt: Interrupt) -> None:
    """Stop a query and wait a moment for its thread, so that no thread outlives the call unnoticed.

    It is asked again: DuckDB forgets what it was asked in the moment before the query begins.
    """
    for wait_s in _PATIENCE_S:
        await asyncio.to_thread(interrupt.ask)  # a server is told over the network
        done, _ = await asyncio.wait({work}, timeout=wait_s)
        if done:
            break
    if work.done() and (error := work.exception()) is not None and not isinstance(error, QueryStopped):
        raise error
