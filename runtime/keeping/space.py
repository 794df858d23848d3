"""The room that an embedded file takes; a server sees to its own."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from runtime.errors import LedgerUnavailable
from runtime.ledger.store import SqlStore

_log = logging.getLogger(__name__)


async def free_bytes(store: SqlStore) -> int | None:
    """Return how much of an embedded file holds nothing and will be used again; None for a server."""
    return await store.reader.in_thread(_free) if store.database.embedded else None


async def give_back(store: SqlStore) -> bool:
    """Write an embedded file anew without what holds nothing, and return whether that was done; others wait meanwhile.

    It is not done on a server, nor while others use the file for longer than `ledger.busy_timeout_s`.
    """
    if not store.database.embedded:
        return False
    try:
        await store.reader.in_thread(_vacuum)
    except LedgerUnavailable as error:
        _log.warning("the file was not made smaller: %s", error)
        return False
    await store.reader.flush_erased()
    return True


def _free(connection: Connection) -> int:
    pages = int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
    return pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


def _vacuum(connection: Connection) -> None:
    connection.exec_driver_sql("VACUUM")
