"""Brings a database to the schema of this program, with Alembic, and tells where one stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, inspect, select
from sqlalchemy.exc import DBAPIError

from runtime.errors import SchemaMismatch
from runtime.ledger.database import Database, parse_address
from runtime.ledger.schema import REVISION, counter, metadata
from runtime.settings.groups import LedgerSettings

_MIGRATIONS = Path(__file__).parent / "migrations"
_versions = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's own table, as Alembic makes it."""
_LOCK = 5_117_733
"""Any number, the same in every version: two programs must not migrate one server at once."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """At which schema a database stands."""

    address: str
    current: str | None
    """None for a database without a ledger."""
    newest: str = REVISION

    @property
    def up_to_date(self) -> bool:
        """Whether this program can use the database as it is."""
        return self.current == self.newest


def upgrade(url: str) -> SchemaStatus:
    """Bring the database at `url` to the schema of this program; doing it again changes nothing.

    Raises:
        SchemaMismatch: a newer program made the database, or it belongs to something else.
        LedgerUnavailable: it cannot be reached or written.
    """
    return upgrade_database(_database(url))


def status(url: str) -> SchemaStatus:
    """Return at which schema the database at `url` stands; changes nothing, and makes no file that is not there."""
    database = _database(url)
    if database.embedded and not database.address.startswith("file:") and not Path(database.address).exists():
        return SchemaStatus(database.address, None)
    return SchemaStatus(database.address, current_revision(database))


def current_revision(database: Database) -> str | None:
    """Return the revision written in the database, or None when it holds no ledger."""
    with _connected(database) as connection:
        return revision_of(connection)


def upgrade_database(database: Database) -> SchemaStatus:
    """Bring a database to the newest revision, alone."""
    with _connected(database) as connection, _alone(database, connection):
        before = revision_of(connection)
        if before is None:
            _refuse_foreign(database, connection)
        if before is None and database.embedded:
            create_newest(connection)
        elif before != REVISION:
            run_migrations(database, connection, before)
        return SchemaStatus(database.address, revision_of(connection))


def create_newest(connection: Connection) -> None:
    """Make the newest schema in an empty file: what all migrations make, without the second that Alembic needs."""
    metadata.create_all(connection)
    _versions.create(connection)
    connection.execute(counter.insert().values(id=1, position=0))
    connection.execute(_versions.insert().values(version_num=REVISION))


def run_migrations(database: Database, connection: Connection, before: str | None, *, to: str = "head") -> None:
    """Run the migrations that come after `before`, up to `to`; None runs them from the first."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if before is not None and before not in known:
        raise newer(database.address, before)
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def newer(address: str, revision: str) -> SchemaMismatch:
    """Return the error for a database that a newer program made."""
    return SchemaMismatch(
        f"The ledger {address} was made by a newer version of silicon (schema {revision}, this program knows up to "
        f"{REVISION}). Use that version, or another home folder.",
        address=address,
        schema=revision,
        newest=REVISION,
    )


def _refuse_foreign(database: Database, connection: Connection) -> None:
    clashes = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
    if clashes:
        raise SchemaMismatch(
            f"The database {database.address} already has tables named {', '.join(clashes)} that silicon did not make. "
            "Give silicon a database of its own.",
            address=database.address,
            tables=list(clashes),
        )


def revision_of(connection: Connection) -> str | None:
    """Return the revision written in the database, or None when it holds no ledger."""
    if not inspect(connection).has_table(_versions.name):
        return None
    revision: str | None = connection.execute(select(_versions.c.version_num)).scalar()
    return revision


@contextmanager
def _alone(database: Database, connection: Connection) -> Iterator[None]:
    """Hold a lock while migrating; where the database can, everything is done in one transaction."""
    backend = database.url.get_backend_name()
    if backend == "mysql":
        connection.exec_driver_sql(f"SELECT GET_LOCK('silicon-{_LOCK}', 60)").all()
        try:
            yield
        finally:
            connection.exec_driver_sql(f"SELECT RELEASE_LOCK('silicon-{_LOCK}')").all()
        return
    connection.exec_driver_sql(database.flavour.begin)
    if backend == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})").all()
    try:
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


@contextmanager
def _connected(database: Database) -> Iterator[Connection]:
    try:
        with database.engine.connect() as connection:
            yield connection
    except (DBAPIError, OSError) as error:
        raise database.translate(error) from error
    finally:
        database.engine.dispose()


def _database(url: str) -> Database:
    return Database(parse_address(url), LedgerSettings())
