"""A book of memories in a file and on each store, and what tells it as a whole."""

from tests.memory.records.conftest import book, quick
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["book", "clock", "mysql_database", "postgresql_database", "quick", "sqlite_store", "store", "store_url"]
