"""A book of memories in a file, and the search over it."""

from tests.memory.records.conftest import quick
from tests.stores import clock, sqlite_store

__all__ = ["clock", "quick", "sqlite_store"]
