"""A store in a file."""

from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
