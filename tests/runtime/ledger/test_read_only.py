"""A ledger on a read-only file system: all in it is read, nothing is written, and what cannot be read is told."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.errors import LedgerUnavailable
from runtime.ledger import address, open_store, status
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


class Disk:
    """A file system that can be made read-only."""

    def __init__(self, folder: Path) -> None:
        self.home = folder

    def protect(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(self.home)], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk with a blank, a ? and a #"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mount.stderr.strip()}")
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fact(number: int) -> Append:
    return Append(f"order/{number}", [NewEvent("step.finished", {"n": number})], 0, "acme", "/organisation/acme")


async def opened(home: Path) -> SqlStore:
    return await open_store(LedgerSettings(), home=home, clock=HandClock())


async def filled(home: Path, events: int) -> SqlStore:
    store = await opened(home)
    for number in range(events):
        await store.ledger.append(fact(number))
    return store


async def test_what_was_closed_well_is_read_and_refuses_to_be_written(disk: Disk) -> None:
    await (await filled(disk.home, 3)).close()
    disk.protect()
    assert status(address(LedgerSettings(), disk.home)).up_to_date

    store = await opened(disk.home)
    assert len(await store.ledger.read_all()) == 3 and await store.ledger.verify() == []
    with pytest.raises(LedgerUnavailable, match=r"silicon\.db cannot be written: .* is read-only"):
        await store.ledger.append(fact(9))
    await store.close()


async def left_by_a_kill(disk: Disk, tmp_path: Path, *names: str) -> None:
    """Put what a process left that was killed with its last commits in the log onto the disk."""
    other = tmp_path / "other"
    store = await filled(other, 3)
    for name in names:
        shutil.copy(other / name, disk.home / name)
    await store.close()
    disk.protect()


async def test_the_last_commits_that_a_killed_process_left_in_the_log_are_read_as_well(
    disk: Disk, tmp_path: Path
) -> None:
    await left_by_a_kill(disk, tmp_path, "silicon.db", "silicon.db-wal", "silicon.db-shm")

    store = await opened(disk.home)
    assert len(await store.ledger.read_all()) == 3
    await store.close()


async def test_where_the_log_cannot_be_read_in_place_nothing_is_left_out_in_silence(disk: Disk, tmp_path: Path) -> None:
    await left_by_a_kill(disk, tmp_path, "silicon.db", "silicon.db-wal")

    with pytest.raises(LedgerUnavailable, match=r"is read-only here .* copy silicon\.db together with silicon\.db-wal"):
        await opened(disk.home)

    copy = tmp_path / "copy"
    shutil.copytree(disk.home, copy)
    store = await opened(copy)
    assert len(await store.ledger.read_all()) == 3
    await store.close()


async def test_an_empty_read_only_disk_is_told_as_one_where_nothing_can_be_made(disk: Disk) -> None:
    disk.protect()

    with pytest.raises(LedgerUnavailable, match="cannot be opened or made"):
        await opened(disk.home)
