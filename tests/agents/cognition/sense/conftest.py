"""Sensors over a small table, with a real store."""

from tests.memory.duck import duck
from tests.stores import clock, sqlite_store

__all__ = ["clock", "duck", "sqlite_store"]
