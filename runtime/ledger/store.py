"""One database put together: its ledger, leases and blobs."""

from __future__ import annotations

from runtime.clock import Clock
from runtime.ledger.blobs import SqlBlobs
from runtime.ledger.database import Database
from runtime.ledger.leases import SqlLeases
from runtime.ledger.ledger import SqlLedger
from runtime.ledger.reader import Reader
from runtime.ledger.writer import Writer


class SqlStore:
    """The port `Store` on SQLite, MySQL/MariaDB or PostgreSQL. Made inside the event loop that uses it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.address = database.address
        self._writer = Writer(database)
        self._reader = Reader(database)
        self._ledger = SqlLedger(self._writer, self._reader, clock)
        self._leases = SqlLeases(self._writer, self._reader, clock)
        self._blobs = SqlBlobs(self._writer, self._reader)

    @property
    def ledger(self) -> SqlLedger:
        """What happened."""
        return self._ledger

    @property
    def leases(self) -> SqlLeases:
        """Who may write what, and until when."""
        return self._leases

    @property
    def blobs(self) -> SqlBlobs:
        """What is kept by reference."""
        return self._blobs

    async def close(self) -> None:
        """Finish what is being written and close every connection."""
        await self._writer.close()
        await self._reader.close()
