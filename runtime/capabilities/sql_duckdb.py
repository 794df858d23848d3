"""Queries on a DuckDB file that see only what was known at one moment."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from runtime.capabilities.connections import DuckdbConnection
from runtime.capabilities.data_files import FileState, sha256_of, state_of
from runtime.capabilities.errors import DataChanged, DataLocked, DataUnavailable
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
from runtime.errors import CapabilityFailed, InvalidArguments, PermissionRefused

_COLUMN = re.compile(r'(?:Referenced column|does not have a column named) "([^"]+)"')
_TABLE = re.compile(r"Table with name (\S+) does not exist")
_NEAR = re.compile(r'"([^"]+)"')
_VARIABLE = re.compile(r"^[a-z][a-z0-9_]*$")
_KEPT = 4
"""Idle connections kept for the next query; opening one takes about 10 ms."""


class DuckdbSource:
    """One data file. Each query gets a connection of its own from a small pool, so queries run side by side."""

    def __init__(
        self,
        name: str,
        connection: DuckdbConnection,
        *,
        folder: Path,
        zone: ZoneInfo,
        views: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        self._views = views or {}
        self._connection = connection
        self._folder = folder
        self._zone = zone
        self._idle: list[tuple[FileState, Any]] = []
        self._lock = threading.Lock()

    def run(self, query: Query, interrupt: Interrupt) -> Table:
        """Return the answer; blocks, so call it in a thread."""
        import duckdb

        state = state_of(self._folder / self._connection.file, connection=self._name, made_by=self._connection.made_by)
        with self._borrowed(state) as connection:
            try:
                with interrupt.armed(connection.interrupt), self._variables(connection, query):
                    used = self._check(connection, query)
                    found = connection.execute(query.sql, used)
                    columns = [column[0] for column in found.description]
                    rows = found.fetchmany(query.rows + 1)
            except duckdb.InterruptException:
                raise QueryStopped from None
            except duckdb.Error as error:
                raise self._query_fault(error) from error
        return to_table(query, columns, rows, data_sha256=sha256_of(state), views=self._texts())

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    @contextmanager
    def _borrowed(self, state: FileState) -> Iterator[Any]:
        with self._lock:
            stale = [held for held in self._idle if held[0] != state]
            self._idle = [held for held in self._idle if held[0] == state]
            connection = self._idle.pop()[1] if self._idle else None
        for _, old in stale:
            old.close()
        connection = connection or self._open(state)
        try:
            yield connection
        finally:
            with self._lock:
                keep = len(self._idle) < _KEPT
                if keep:
                    self._idle.append((state, connection))
            if not keep:
                connection.close()

    def _open(self, state: FileState) -> Any:
        import duckdb

        connection = duckdb.connect(":memory:")
        try:
            path = str(state.path).replace("'", "''")
            connection.execute(f"ATTACH '{path}' AS facts (READ_ONLY)")
        except duckdb.Error as error:
            connection.close()
            raise self._open_fault(error, state.path) from error
        try:
            connection.execute("SET threads = 1")  # sums of several threads differ in the last digit from run to run
            connection.execute("SET VARIABLE known_at = TIMESTAMP '0001-01-01'")
            for file in self._connection.known:
                connection.execute(self._text(file))
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        except (duckdb.Error, CapabilityFailed) as error:
            connection.close()
            raise self._views_fault(error) from error
        return connection

    def _texts(self) -> dict[str, str]:
        return {file: self._text(file) for file in self._connection.known}

    def _text(self, file: str) -> str:
        if file in self._views:
            return self._views[file]
        try:
            return (self._folder / file).read_text(encoding="utf-8")
        except OSError as error:
            raise DataUnavailable(
                f"Connection {self._name} names {file} under `known`, but it cannot be read ({error.strerror}).",
                connection=self._name, file=file,
            ) from error  # fmt: skip

    @contextmanager
    def _variables(self, connection: Any, query: Query) -> Iterator[None]:
        """Set the moment, and each argument under its name, for as long as the query runs."""
        names = [name for name in query.parameters if _VARIABLE.match(name) and name != "known_at"]
        self._set(connection, "known_at", local_time(query.known_at, self._zone))
        for name in names:
            self._set(connection, name, bind_value(query.parameters[name], self._zone))
        try:
            yield
        finally:
            for name in names:
                connection.execute(f'RESET VARIABLE "{name}"')

    @staticmethod
    def _set(connection: Any, name: str, value: Any) -> None:
        connection.execute(f'SET VARIABLE "{name}" = $value', {"value": value})

    def _check(self, connection: Any, query: Query) -> dict[str, Any]:
        """Return the parameters of the one SELECT there is; refuse anything else."""
        import duckdb

        statements = duckdb.extract_statements(query.sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            kinds = ", ".join(statement.type.name for statement in statements) or "nothing"
            raise PermissionRefused(
                f"A query on {self._name} is one SELECT; this text holds: {kinds}. Data is never changed from here.",
                connection=self._name, statements=kinds,
            )  # fmt: skip
        if self._connection.known:
            self._refuse_the_future(connection, query.sql)
        given: dict[str, datetime | Any] = {"known_at": local_time(query.known_at, self._zone)}
        given.update((name, bind_value(value, self._zone)) for name, value in query.parameters.items())
        return take_parameters(set(statements[0].named_parameters), given, "$")

    def _refuse_the_future(self, connection: Any, sql: str) -> None:
        """Refuse a query that goes round the views, or whose tables cannot be told before it runs."""
        parsed = json.loads(connection.execute("SELECT json_serialize_sql($sql)", {"sql": sql}).fetchone()[0])
        way_round = "PIVOT" if parsed.get("error") else next(_ways_round(parsed), None)
        if way_round is not None:
            raise PermissionRefused(
                f"The query uses {way_round}, through which it could see what was not known yet. "
                f"Use the views of {', '.join(self._connection.known)} as they are.",
                connection=self._name, uses=way_round,
            )  # fmt: skip

    def _open_fault(self, error: Exception, path: Path) -> CapabilityFailed:
        text = _first_line(error)
        if "lock on file" in text:
            return DataLocked(
                f"Another process is writing the data file of connection {self._name}: {path}. "
                "Wait until it has finished, or close the program that has the file open.",
                connection=self._name, file=str(path),
            )  # fmt: skip
        how = f" Make it again with: {self._connection.made_by}" if self._connection.made_by else ""
        return DataUnavailable(
            f"The data file of connection {self._name} cannot be opened: {path} ({text}).{how}",
            connection=self._name, file=str(path), made_by=self._connection.made_by,
        )  # fmt: skip

    def _views_fault(self, error: Exception) -> CapabilityFailed:
        if isinstance(error, CapabilityFailed):
            return error
        what, facts = _what_is_missing(error)
        return DataChanged(
            f"The views of connection {self._name} ({', '.join(self._connection.known)}) do not fit its data: {what} "
            "Change the views, or make the data as it was.",
            connection=self._name, **facts,
        )  # fmt: skip

    def _query_fault(self, error: Exception) -> CapabilityFailed:
        what, facts = _what_is_missing(error)
        if "table" in facts and not self._connection.known:
            what += f" Without `known` a table of the file is called facts.NAME, such as facts.{facts['table']}."
        return InvalidArguments(
            f"The query on connection {self._name} cannot run: {what}", connection=self._name, **facts
        )


def _ways_round(node: Any) -> Iterator[str]:
    """Walk a parsed query and name each table of the attached file and each function that makes up a table's name."""
    if isinstance(node, dict):
        if "facts" in (str(node.get("catalog_name")).lower(), str(node.get("schema_name")).lower()):
            yield f"facts.{node.get('table_name')}"
        if str(node.get("function_name")).lower() in ("query", "query_table"):
            yield f"{node['function_name']}()"
    if isinstance(node, dict | list):
        for below in node.values() if isinstance(node, dict) else node:
            yield from _ways_round(below)


def _what_is_missing(error: Exception) -> tuple[str, dict[str, Any]]:
    text = str(error)
    near = _NEAR.findall(text.partition("Candidate bindings")[2].partition("\n")[0])
    hint = f" Near: {', '.join(near)}." if near else ""
    if column := _COLUMN.search(text):
        return f"there is no column {column[1]}.{hint}", {"column": column[1], "near": list(near)}
    if table := _TABLE.search(text):
        return f"there is no table or view {table[1]}.", {"table": table[1]}
    return f"{_first_line(error).rstrip('.')}.", {}


def _first_line(error: Exception) -> str:
    kind, _, text = str(error).partition("\n")[0].partition(": ")
    return text or kind
