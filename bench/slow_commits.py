"""Makes the commits of a bench's own store as slow as those of a slower disk.

The disk of the machine at hand may commit in 0.2 ms. A sleep behind each COMMIT of the driver, on top of what the disk
really takes, stands for the wait of a slower one: like a wait for a disk it leaves the processor to others.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from pymysql.cursors import Cursor

from runtime.ledger.store import SqlStore


def slow(store: SqlStore, seconds: float) -> None:
    """Let each commit of a store take that much longer, from its next connection on."""
    kind: dict[str, Any] = (
        {"factory": sqlite_connection(seconds)} if store.database.embedded else {"cursorclass": mysql_cursor(seconds)}
    )
    dialect: Any = store.database.engine.dialect
    connect = dialect.connect
    dialect.connect = lambda *arguments, **named: connect(*arguments, **named, **kind)
    store.database.engine.dispose()


def sqlite_connection(seconds: float) -> type[sqlite3.Connection]:
    """Return a kind of connection whose commits take that much longer."""

    class SlowCursor(sqlite3.Cursor):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            done = super().execute(statement, *values)
            if statement == "COMMIT":
                time.sleep(seconds)
            return done

    class SlowConnection(sqlite3.Connection):
        def cursor(self, *_: Any) -> SlowCursor:  # type: ignore[override]
            return super().cursor(SlowCursor)

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # else it takes the driver's own cursor
            return self.cursor().execute(statement, *values)

    return SlowConnection


def mysql_cursor(seconds: float) -> type[Cursor]:
    """Return a kind of cursor whose commits take that much longer."""

    class SlowCursor(Cursor):
        def execute(self, query: str, args: Any = None) -> int:
            done: int = super().execute(query, args)
            if query == "COMMIT":
                time.sleep(seconds)
            return done

    return SlowCursor
