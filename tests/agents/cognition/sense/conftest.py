"""Sensors over a small table, with a real store."""

from tests.memory.duck import duck
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "duck", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]
