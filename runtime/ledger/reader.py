"""Reads, each on a connection of its own in a thread, so that no reader ever stands in the writer's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, Executable, text
from sqlalchemy.exc import DBAPIError

from runtime.errors import LedgerUnavailable
from runtime.ledger.database import Database
from runtime.ledger.texts import Texts

T = TypeVar("T")
THREADS = 4


class Reader:
    """A few threads and a pool of connections."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ledger-reader")
        self._closed = False

    def texts(self) -> Texts:
        """Return what remembers the names of this database, as long as it is surely the same one."""
        texts = Texts()
        self._database.on_break.append(texts.forget)
        return texts

    async def rows(self, query: Executable) -> Sequence[Any]:
        """Return all rows of a query."""
        return await self.in_thread(lambda connection: connection.execute(query).fetchall())

    async def in_snapshot(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection that sees one moment of the database."""

        def snapshot(connection: Connection) -> T:
            connection.exec_driver_sql(self._database.flavour.begin_snapshot)
            try:
                return work(connection)
            finally:
                connection.exec_driver_sql("ROLLBACK")

        return await self.in_thread(snapshot)

    async def flush_erased(self) -> None:
        """Empty SQLite's write-ahead log, where erased bytes may stand; a reader in progress puts that off to later."""
        if self._database.embedded:
            statement = text("PRAGMA wal_checkpoint(TRUNCATE)")
            await self.rows(statement)

    async def close(self) -> None:
        """Wait for reads in progress, then close all connections."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        self._database.engine.dispose()

    async def in_thread(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection of its own."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._connected, work)
        except RuntimeError as error:
            if not self._closed:
                raise
            address = self._database.address
            raise LedgerUnavailable(f"The ledger {address} was closed.", address=address) from error

    def _connected(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._database.engine.connect() as connection:
                return work(connection)
        except (DBAPIError, OSError) as error:
            raise self._database.translate(error) from error
