"""A book of memories on every store."""

from __future__ import annotations

import pytest

from memory.records.book import MemoryBook
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ORGANISATION
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]


@pytest.fixture
def book(store: SqlStore, clock: HandClock) -> MemoryBook:
    """On each store."""
    return MemoryBook(store, ORGANISATION, clock=clock, settings=MemorySettings())


@pytest.fixture
def quick(sqlite_store: SqlStore, clock: HandClock) -> MemoryBook:
    """In a file, for what no store does differently."""
    return MemoryBook(sqlite_store, ORGANISATION, clock=clock, settings=MemorySettings())
