"""The ledger: what happened, in streams, on SQLite, MySQL/MariaDB or PostgreSQL.

Importing this package costs nothing: SQLAlchemy takes 0.4 s to import, so our own modules that need it are imported
when a store is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runtime.clock import Clock
from runtime.settings.groups import LedgerSettings

if TYPE_CHECKING:
    from runtime.ledger.migrate import SchemaStatus
    from runtime.ledger.store import SqlStore

__all__ = ["address", "embedded_file", "open_store", "status", "upgrade"]


async def open_store(settings: LedgerSettings, *, home: Path, clock: Clock) -> SqlStore:
    """Return the store that the settings name; the embedded file is made and migrated when needed.

    Raises:
        SettingsError: `ledger.url` is no address, or its driver is not installed.
        LedgerUnavailable: the database cannot be reached or opened.
        SchemaMismatch: the database is newer than the program, or a server was not migrated yet.
    """
    from runtime.ledger.opening import open_database
    from runtime.ledger.store import SqlStore

    return SqlStore(await open_database(settings, home), clock, settings)


def address(settings: LedgerSettings, home: Path) -> str:
    """Return the address of the database that the settings mean, as `upgrade` and `status` take it."""
    from runtime.ledger.database import address_of

    return address_of(settings, home).render_as_string(hide_password=False)


def embedded_file(settings: LedgerSettings, home: Path) -> Path | None:
    """Return the file of an embedded database; None for a server's."""
    from runtime.ledger.database import address_of

    url = address_of(settings, home)
    if url.get_backend_name() != "sqlite":
        return None
    return Path(str(url.database).removeprefix("file:").partition("?")[0])


def upgrade(url: str) -> SchemaStatus:
    """Bring the database at `url` to the schema of this program; return where it stands then."""
    from runtime.ledger import migrate

    return migrate.upgrade(url)


def status(url: str) -> SchemaStatus:
    """Return at which schema the database at `url` stands; changes nothing."""
    from runtime.ledger import migrate

    return migrate.status(url)
