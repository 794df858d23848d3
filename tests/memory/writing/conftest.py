"""A writer over a book in a file."""

from __future__ import annotations

import pytest

from memory.records.book import MemoryBook
from memory.writing.turns import TurnReader
from memory.writing.writer import MemoryWriter
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ORGANISATION
from tests.memory.records.conftest import quick
from tests.stores import clock, sqlite_store

__all__ = ["clock", "quick", "sqlite_store"]


@pytest.fixture
def writer(quick: MemoryBook, clock: HandClock) -> MemoryWriter:
    return MemoryWriter(quick, clock, MemorySettings())


@pytest.fixture
def reader(writer: MemoryWriter, sqlite_store: SqlStore) -> TurnReader:
    return TurnReader(writer, sqlite_store.ledger, ORGANISATION, MemorySettings())
