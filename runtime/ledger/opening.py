"""Opens the database that the settings name, at the schema of this program, or says what stands in the way."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runtime.errors import LedgerUnavailable, SchemaMismatch
from runtime.ledger.database import Database, address_of
from runtime.ledger.migrate import current_revision, upgrade_database
from runtime.ledger.schema import REVISION
from runtime.settings.groups import LedgerSettings
from runtime.settings.home import make_home


async def open_database(settings: LedgerSettings, home: Path) -> Database:
    """Return the database, reached and at the right schema; see `open_store` for what is raised."""
    database = Database(address_of(settings, home), settings)
    await asyncio.to_thread(_make_ready, database)
    return database


def _make_ready(database: Database) -> None:
    if database.embedded:
        make_folder(database)
    revision = current_revision(database)
    if revision == REVISION:
        return
    if not database.embedded:
        raise SchemaMismatch(
            f"The database {database.address} is at schema {revision or 'none'}, this program needs {REVISION}. "
            "Run `silicon db upgrade`; if that says that the schema is newer, use the newer version of silicon.",
            address=database.address,
            schema=revision,
            newest=REVISION,
        )
    upgrade_database(database)


def make_folder(database: Database) -> None:
    """Make the folder of an embedded file where it is missing; raise LedgerUnavailable where it cannot be made."""
    if database.address.startswith("file:"):
        return
    folder = Path(database.address).parent
    try:
        make_home(folder)
    except OSError as error:
        raise LedgerUnavailable(
            f"The folder {folder} for the ledger cannot be made: {error.strerror}. "
            "Choose another home folder, or have the right to write there.",
            address=database.address,
        ) from error
