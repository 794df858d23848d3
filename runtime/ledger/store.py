"""One database put together: its ledger, leases and blobs."""

from __future__ import annotations

from sqlalchemy import text

from runtime.clock import Clock
from runtime.ledger.blobs import SqlBlobs
from runtime.ledger.database import Database
from runtime.ledger.fragments import SqlFragments
from runtime.ledger.leases import SqlLeases
from runtime.ledger.ledger import SqlLedger
from runtime.ledger.reader import Reader
from runtime.ledger.writer import Writer
from runtime.settings.groups import LedgerSettings


class SqlStore:
    """The port `Store` on SQLite, MySQL/MariaDB or PostgreSQL. Made inside the event loop that uses it.

    `database`, `writer` and `reader` are for `runtime.keeping`, which copies, prunes and takes in whole parts of it.
    """

    def __init__(self, database: Database, clock: Clock, settings: LedgerSettings | None = None) -> None:
        self.address = database.address
        self.database = database
        self.writer = Writer(database)
        self.reader = Reader(database)
        self._ledger = SqlLedger(self.writer, self.reader, clock)
        self._leases = SqlLeases(self.writer, self.reader, clock)
        self._blobs = SqlBlobs(self.writer, self.reader)
        self._fragments = SqlFragments(self.writer, self.reader, clock, settings or LedgerSettings())

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

    @property
    def fragments(self) -> SqlFragments:
        """What is only streamed."""
        return self._fragments

    async def revision(self) -> str | None:
        """Return the revision of the schema as it stands now; None in the middle of a restore."""
        rows = await self.reader.rows(text("SELECT version_num FROM alembic_version"))
        return str(rows[0][0]) if rows else None

    async def close(self) -> None:
        """Finish what is being written and close every connection."""
        await self._fragments.close()
        await self.writer.close()
        await self.reader.close()
