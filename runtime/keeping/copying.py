"""Copies all tables of a ledger from one database to another of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, func, insert, select
from sqlalchemy.exc import DBAPIError, StatementError

from runtime.bus.identity import ROW as IDENTITY
from runtime.errors import LedgerError
from runtime.ledger.schema import blob_parts, consumers, fragments, metadata

ROWS = 100
"""Rows in memory at once; of parts of blobs, which may have 4 MiB each, one."""


class NotWritten(Exception):
    """The target refused a row; `error` is what its driver said."""

    def __init__(self, error: DBAPIError) -> None:
        super().__init__(str(error))
        self.error = error


def copy_tables(source: Connection, target: Connection) -> int:
    """Copy every row into the same table, which is empty; return how many there were.

    What only goes on just now, such as the queue of the cluster, stays behind: the copy is another ledger.

    Raises:
        LedgerError: a hand put a value into the source that its column cannot hold.
        NotWritten: the target cannot take them.
    """
    copied = sum(_copy(table, source, target) for table in metadata.sorted_tables if not table.info.get("passing"))
    if target.dialect.name == "postgresql":  # the others go on after the greatest number by themselves
        last = select(func.coalesce(func.max(fragments.c.seq), 0) + 1).scalar_subquery()
        sequence = func.pg_get_serial_sequence(fragments.name, fragments.c.seq.name)
        target.execute(select(func.setval(sequence, last, False)))
    return copied


def _copy(table: Table, source: Connection, target: Connection) -> int:
    at_once = 1 if table is blob_parts else ROWS
    # The name of a ledger towards brokers stays behind: the copy is another ledger.
    query = select(table).where(table.c.name != IDENTITY) if table is consumers else select(table)
    rows = source.execute(query.execution_options(yield_per=at_once))
    copied = 0
    while page := _page(table, rows.fetchmany, at_once):
        try:
            target.execute(insert(table).inline(), page)
        except DBAPIError as error:
            raise NotWritten(error) from error
        except StatementError as error:
            raise _unreadable(table, error.orig or error) from error
        copied += len(page)
    return copied


def _page(table: Table, fetch: Callable[[int], Sequence[Row[Any]]], at_once: int) -> list[dict[str, Any]]:
    try:
        return [dict(row._mapping) for row in fetch(at_once)]
    except (TypeError, ValueError) as error:
        raise _unreadable(table, error) from error


def _unreadable(table: Table, error: BaseException) -> LedgerError:
    return LedgerError(
        f"A row of the table {table.name} was changed so that it cannot be copied: {error}. "
        "`silicon audit verify` lists what was changed; restore the ledger from an earlier backup.",
        table=table.name,
    )
