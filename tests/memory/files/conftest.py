"""A book of memories in a file, with a folder to edit them in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contracts import MemoryHolder
from memory.files.exporting import Exported, export
from memory.files.importing import FileImport
from memory.files.places import folder_of_holder, root_of
from memory.files.taken import Imported
from memory.records.book import MemoryBook
from memory.writing.writer import MemoryWriter
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANALYST, ANN, BUSINESS, ORGANISATION
from tests.memory.records.conftest import quick
from tests.stores import clock, sqlite_store

__all__ = ["clock", "quick", "sqlite_store"]
HOLDERS = (BUSINESS, ANALYST, ANN)


class Files:
    """The files of a book, and a person who edits them."""

    def __init__(self, book: MemoryBook, clock: HandClock, home: Path) -> None:
        self.book = book
        self.root = root_of(home, ORGANISATION)
        self._writer = MemoryWriter(book, clock, MemorySettings())

    def path(self, holder: MemoryHolder, name: str) -> Path:
        return folder_of_holder(self.root, holder) / name

    async def out(self, *, overwrite: bool = False) -> Exported:
        return await export(self.book, HOLDERS, self.root, overwrite=overwrite)

    async def take(
        self, *, withdraw_missing: bool = False, may_change: Callable[[MemoryHolder], None] = lambda _: None
    ) -> Imported:
        files = FileImport(self.book, self._writer, self.root, by="ann", may_change=may_change)
        return await files.take_in(HOLDERS, withdraw_missing=withdraw_missing)

    def edit(self, holder: MemoryHolder, name: str, old: str, new: str) -> None:
        path = self.path(holder, name)
        content = path.read_text("utf-8")
        assert old in content, content
        path.write_text(content.replace(old, new, 1), "utf-8")


@pytest.fixture
def files(quick: MemoryBook, clock: HandClock, tmp_path: Path) -> Files:
    return Files(quick, clock, tmp_path)
