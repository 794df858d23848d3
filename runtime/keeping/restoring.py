"""Puts a backup into an empty database of any kind, whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Table, create_engine, literal, select
from sqlalchemy.exc import DBAPIError

from runtime.errors import SchemaMismatch
from runtime.keeping.copying import NotWritten, copy_tables
from runtime.keeping.errors import BackupUnfit, FileNotUsable, TargetInUse
from runtime.keeping.results import Restored
from runtime.ledger.database import Database
from runtime.ledger.migrate import current_revision, revision_of, upgrade_database
from runtime.ledger.opening import make_folder
from runtime.ledger.port import AuditFault
from runtime.ledger.schema import REVISION, counter, metadata
from runtime.ledger.verify import verify

SHOWN = 3
"""Faults that an error names."""
_MAGIC = b"SQLite format 3\x00"


def restore(database: Database, path: Path) -> Restored:
    """Copy the backup into the database in one transaction and audit it there before it is committed.

    The tables are made where there are none.

    Raises:
        BackupUnfit: the file is no backup, of another schema, or the audit finds faults in it.
        FileNotUsable: it cannot be read.
        TargetInUse: the database holds something already.
        SchemaMismatch: its tables are of another version, or of another program.
        LedgerUnavailable: it cannot be reached or written.
    """
    with opened(path) as source:
        _check(source, path)
        _make_ready(database)
        try:
            with database.engine.connect() as target:
                rows, position = _restore(source, target, database, path)
        except NotWritten as failure:
            raise database.translate(failure.error) from failure.error
        except (DBAPIError, OSError) as error:
            raise database.translate(error) from error
        finally:
            database.engine.dispose()
    return Restored(database.address, path, position, rows)


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """Give a connection to a ledger in a file; the file, also one that cannot be written, is left as it is."""
    _look_at(path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, check_same_thread=False),
        isolation_level="AUTOCOMMIT",
    )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _look_at(path: Path) -> None:
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
        log = path.with_name(f"{path.name}-wal")
        behind = log.exists() and log.stat().st_size > 0
    except OSError as error:
        raise FileNotUsable(f"The file {path} cannot be read: {error.strerror}.", path=str(path)) from error
    if begins != _MAGIC:
        raise _unfit(path, "is no backup of a ledger", "Name a file that `silicon db backup` made.")
    if behind:
        raise _unfit(
            path,
            f"is not whole by itself: {log.name} beside it holds more",
            "Copy it with `silicon db backup` instead of copying the file.",
        )


def _check(source: Connection, path: Path) -> None:
    """Return when the file is a ledger of this program's schema that the audit finds clean."""
    try:
        revision = revision_of(source)
        if revision is None:
            raise _unfit(path, "is no backup of a ledger", "Name a file that `silicon db backup` made.")
        if revision != REVISION:
            raise _unfit(
                path,
                f"is at schema {revision}, this program needs {REVISION}",
                "Run `silicon db upgrade` on a copy of it (SILICON_LEDGER__URL=sqlite:///COPY), then restore the copy; "
                "if that says that the schema is newer, use the newer version of silicon.",
            )
        faults = verify(source)
    except DBAPIError as error:
        raise _unfit(path, f"is damaged: {error.orig}", "Restore another backup.") from error
    if faults:
        raise _unfit(path, f"is not as it was written: {_told(faults)}", "Restore another backup.")


def _make_ready(database: Database) -> None:
    """Make the tables where there are none; refuse a database of another version, which surely holds something."""
    if database.embedded:
        make_folder(database)
    revision = current_revision(database)
    if revision is None:
        upgrade_database(database)
    elif revision != REVISION:
        raise SchemaMismatch(
            f"The database {database.address} is at schema {revision}, this program needs {REVISION}. A backup is "
            "restored into an empty database only: name another one in `ledger.url`, or another home.",
            address=database.address,
            schema=revision,
            newest=REVISION,
        )


def _restore(source: Connection, target: Connection, database: Database, path: Path) -> tuple[int, int]:
    target.exec_driver_sql(database.flavour.begin)
    try:
        position = target.execute(select(counter.c.position).where(counter.c.id == 1).with_for_update()).scalar()
        used = [table.name for table in metadata.sorted_tables if table is not counter and _holds_rows(target, table)]
        if used or position != 0:
            raise TargetInUse(
                f"The database {database.address} is not empty ({', '.join(used) or 'events were written'}). "
                "A backup is restored into an empty database only: name another one in `ledger.url`, or another home.",
                address=database.address,
                tables=[*used],
            )
        target.execute(counter.delete())
        rows = copy_tables(source, target)
        faults = verify(target)
        if faults:
            raise _unfit(path, f"did not arrive as it was written: {_told(faults)}", "Nothing was changed.")
        restored = int(target.execute(select(counter.c.position)).scalar_one())
    except BaseException:
        with suppress(DBAPIError):  # a connection that was lost has nothing to take back
            target.exec_driver_sql("ROLLBACK")
        raise
    target.exec_driver_sql("COMMIT")
    return rows, restored


def _holds_rows(connection: Connection, table: Table) -> bool:
    return connection.execute(select(literal(1)).select_from(table).limit(1)).first() is not None


def _told(faults: Sequence[AuditFault]) -> str:
    shown = [f"{fault.stream or 'the ledger'}: {fault.what}" for fault in faults[:SHOWN]]
    more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    return "; ".join(shown + more)


def _unfit(path: Path, what: str, mend: str) -> BackupUnfit:
    return BackupUnfit(f"The file {path} {what}. {mend}", path=str(path))
