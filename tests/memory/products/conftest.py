"""Every store, and a quick one in a file."""

from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]
