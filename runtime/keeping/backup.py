"""Copies a whole ledger, as it stands at one moment, into one SQLite file that is a ledger itself."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, select
from sqlalchemy.exc import DBAPIError

from runtime.keeping.copying import NotWritten, copy_tables
from runtime.keeping.errors import FileNotUsable
from runtime.keeping.files import new_file, refuse_existing
from runtime.keeping.results import BackupMade
from runtime.ledger.migrate import create_newest
from runtime.ledger.schema import counter
from runtime.ledger.store import SqlStore
from runtime.ledger.verify import verify


async def back_up(store: SqlStore, path: Path) -> BackupMade:
    """Write a copy of the ledger to a new file and audit the copy; runs go on meanwhile.

    Raises:
        FileInUse, FileNotUsable: the file cannot be made.
        LedgerError: a row was changed so that it cannot be read.
    """
    refuse_existing(path)
    return await store.reader.in_snapshot(lambda connection: _back_up(connection, path))


def _back_up(source: Connection, path: Path) -> BackupMade:
    with new_file(path) as partial:
        address = URL.create("sqlite", database=str(partial))
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as target:
                rows = _fill(source, target)
                position = int(target.execute(select(counter.c.position)).scalar_one())
                faults = tuple(verify(target))
        except NotWritten as failure:
            said = str(failure.error.orig)
            raise FileNotUsable(
                f"The file {path} cannot be written: {said}. Choose another place, or make room there.", path=str(path)
            ) from failure.error
        finally:
            engine.dispose()
        size = partial.stat().st_size
    return BackupMade(path, position, rows, size, faults)


def _fill(source: Connection, target: Connection) -> int:
    """Make the tables in an empty file and copy everything into them; return the number of rows."""
    try:
        target.exec_driver_sql("PRAGMA journal_mode=OFF")  # a copy that fails is thrown away
        target.exec_driver_sql("PRAGMA synchronous=OFF")  # the file is synced as a whole in the end
        target.exec_driver_sql("BEGIN")
        create_newest(target)
        target.execute(counter.delete())
    except DBAPIError as error:
        raise NotWritten(error) from error
    rows = copy_tables(source, target)
    try:
        target.exec_driver_sql("COMMIT")
    except DBAPIError as error:
        raise NotWritten(error) from error
    return rows
