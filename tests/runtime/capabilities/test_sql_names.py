"""What a query reads and nobody passes is told from its text."""

from __future__ import annotations

import pytest

from runtime.capabilities.connections import DuckdbConnection, SqliteConnection, UrlConnection
from runtime.capabilities.sql_names import not_passed

DUCKDB = DuckdbConnection(kind="duckdb", file="a.duckdb")
SQLITE = SqliteConnection(kind="sqlite", file="a.db")
URL = UrlConnection(kind="url", url="mysql://db/x")


@pytest.mark.parametrize(
    ("sql", "missing"),
    [
        ("SELECT $week, $day, $known_at", ["$day"]),
        ("SELECT '$text', $$ $quoted $$ -- $comment", []),
        ("SELECT getvariable('day'), 1::int, $week", []),
        ("SELECT $day FROM", []),
        ("SELECT $b UNION SELECT $a", ["$a", "$b"]),
    ],
)
def test_names_of_a_duckdb_query(sql: str, missing: list[str]) -> None:
    assert not_passed(DUCKDB, sql, {"week"}) == missing


@pytest.mark.parametrize("connection", [SQLITE, URL])
def test_names_of_other_queries(connection: SqliteConnection | UrlConnection) -> None:
    assert not_passed(connection, "SELECT :week, :day, :known_at, '$text', a::int", {"week"}) == [":day"]
