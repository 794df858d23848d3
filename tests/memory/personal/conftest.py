"""A book of memories in a file, and every store for profiles."""

from tests.memory.records.conftest import book, quick
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["book", "clock", "mysql_database", "postgresql_database", "quick", "sqlite_store", "store", "store_url"]
