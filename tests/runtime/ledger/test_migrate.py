"""The schema that migrations make is the one that the program uses, on every database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import LargeBinary, create_engine, inspect, text

from runtime.ledger import status, upgrade
from runtime.ledger.database import Database, parse_address
from runtime.ledger.migrate import SchemaStatus, run_migrations, upgrade_database
from runtime.ledger.schema import REVISION, metadata
from runtime.settings import LedgerSettings

MIGRATIONS = Path(__file__).parents[3] / "runtime" / "ledger" / "migrations"


def test_the_newest_migration_is_the_revision_of_the_program() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == REVISION


def test_migrations_make_the_tables_that_the_program_uses(store_url: str) -> None:
    upgrade(store_url)
    engine = create_engine(parse_address(store_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": differs})
        differences = compare_metadata(context, metadata)
    engine.dispose()

    assert differences == []


def differs(_context: Any, _column: Any, _declared: Any, found: Any, declared: Any) -> bool | None:
    """Say that LONGBLOB is what MySQL makes of our bytes; None leaves the rest to Alembic."""
    return False if isinstance(declared, LargeBinary) and str(found) in ("LONGBLOB", "BLOB", "BYTEA") else None


def test_a_new_file_gets_what_all_migrations_make(tmp_path: Path) -> None:
    made, migrated = (Database(parse_address(f"sqlite:///{tmp_path / name}"), LedgerSettings()) for name in "ab")
    upgrade_database(made)
    with migrated.engine.connect() as connection:
        run_migrations(migrated, connection, None)
    contents = [everything_in(database) for database in (made, migrated)]

    assert contents[0] == contents[1]


def everything_in(database: Database) -> set[tuple[str, ...]]:
    with database.engine.connect() as connection:
        found = {tuple(row) for row in connection.execute(text("SELECT type, name, tbl_name, sql FROM sqlite_master"))}
        found |= {tuple(row) for row in connection.execute(text("SELECT * FROM counter"))}
        found |= {tuple(row) for row in connection.execute(text("SELECT * FROM alembic_version"))}
    database.engine.dispose()
    return found


def test_an_upgrade_done_twice_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'silicon.db'}"
    before = status(url)
    first, again = upgrade(url), upgrade(url)

    assert (before.current, before.up_to_date) == (None, False)
    assert first == again == status(url) == SchemaStatus(str(tmp_path / "silicon.db"), REVISION)
    assert first.up_to_date


@pytest.mark.parametrize("killed_after", [0, 1])
def test_the_third_migration_ends_in_the_same_wherever_it_was_killed(store_url: str, killed_after: int) -> None:
    """Where the database cannot undo a change of tables, some of it is there and the revision is not."""
    upgrade(store_url)
    database = Database(parse_address(store_url), LedgerSettings())
    with database.engine.connect() as connection:
        connection.exec_driver_sql("CREATE INDEX streams_kind ON streams (kind, organisation, last_type)")
        if killed_after == 0:
            for index in metadata.tables["streams"].indexes:
                index.drop(connection)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0002'")
    database.engine.dispose()

    assert upgrade(store_url).up_to_date
    with database.engine.connect() as connection:
        assert [index["name"] for index in inspect(connection).get_indexes("streams")] == ["streams_last_type"]
    database.engine.dispose()


def test_mysql_tables_keep_every_script_and_their_transactions(mysql_database: str) -> None:
    engine = create_engine(parse_address(mysql_database))
    query = "SELECT DISTINCT engine, table_collation FROM information_schema.tables WHERE table_schema = DATABASE() "
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query + "AND table_name != 'alembic_version'"))]
    engine.dispose()

    assert found == [("InnoDB", "utf8mb4_bin")]


@pytest.mark.parametrize("module", ["runtime.ledger", "runtime.bus", "runtime.blackboard", "runtime.executor"])
def test_importing_costs_no_database_library(module: str) -> None:
    program = f"import sys, {module}; sys.exit('sqlalchemy' in sys.modules or 'alembic' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=MIGRATIONS.parents[2])


def test_asking_about_a_file_that_is_not_there_does_not_make_it(tmp_path: Path) -> None:
    found = status(f"sqlite:///{tmp_path / 'backup.db'}")

    assert (found.current, found.up_to_date) == (None, False)
    assert list(tmp_path.iterdir()) == []
