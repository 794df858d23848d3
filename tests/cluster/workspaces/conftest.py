"""Folders whose files are kept by manifest, over every store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.workspaces import OrderFiles
from contracts import TaskOrder, Workspace
from runtime.ledger.port import Store
from runtime.settings import FileSettings, SlotSettings
from tests.fakes.orders import an_order
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]


FILES, SLOT = FileSettings(), SlotSettings()


class Slots:
    """Gives orders slots that are fresh folders, and stores what steps leave there."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self._folder = folder
        self._made = 0

    async def open(
        self, order: TaskOrder, files: FileSettings = FILES, slot: SlotSettings = SLOT
    ) -> tuple[OrderFiles, Path]:
        self._made += 1
        folder = self._folder / f"slot-{self._made}"
        folder.mkdir(parents=True)
        return await OrderFiles.open(self.store, order, folder, files=files, slot=slot, leases=()), folder

    async def commit(self, files: OrderFiles, step: str = "do") -> bool:
        """Store what the step left, as the engine does; return whether it left anything."""
        left = await files.left_by(step)
        if left is None:
            return False
        await self.store.ledger.append(*left.appends, blobs=left.blobs, then=lambda stored: left.stored())
        return True


@pytest.fixture
def slots(store: Store, tmp_path: Path) -> Slots:
    return Slots(store, tmp_path / "slots")


@pytest.fixture
def quick_slots(sqlite_store: Store, tmp_path: Path) -> Slots:
    """Slots over one store only, for what no store has a part in."""
    return Slots(sqlite_store, tmp_path / "slots")


@pytest.fixture
def order() -> TaskOrder:
    return an_order()


@pytest.fixture
def owners_order() -> Callable[[], TaskOrder]:
    """Orders of an employee that owns a workspace."""
    return lambda: an_order(workspace=Workspace())


def tree_of(folder: Path) -> dict[str, tuple[bytes, int] | None]:
    """Return path → bytes and mode of each file; None for an empty folder."""
    found: dict[str, tuple[bytes, int] | None] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            if not any(path.iterdir()):
                found[name] = None
        else:
            found[name] = (path.read_bytes(), path.stat().st_mode & 0o777)
    return found
