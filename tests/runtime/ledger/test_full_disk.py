"""A disk that is full: what was finished is there, what was not is told, and once there is space again it goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.errors import LedgerFull, LedgerUnavailable
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings
from tests.disks import fill, small_disk
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    with small_disk(tmp_path / "disk", mib=2) as disk:
        yield disk


def fact(version: int) -> Append:
    event = NewEvent("step.finished", {"n": version, "x": "y" * 5_000})
    return Append("order/a", [event], version, "acme", "/organisation/acme")


async def test_what_was_finished_before_the_disk_was_full_is_there_and_it_goes_on_with_more_space(
    disk: Path,
) -> None:
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * 1_000_000)
    store = await open_store(LedgerSettings(), home=disk, clock=HandClock())
    finished = 0
    with pytest.raises(LedgerFull, match=r"is full; nothing was written. Free some space"):
        while finished < 1_000:
            await store.ledger.append(fact(finished))
            finished += 1

    assert 0 < finished == await store.ledger.head()
    assert await store.ledger.verify() == []
    ballast.unlink()
    await store.ledger.append(fact(finished))
    await store.close()

    store = await open_store(LedgerSettings(), home=disk, clock=HandClock())
    read = await store.ledger.read("order/a")
    assert [event.data["n"] for event in read if event.data] == list(range(finished + 1))
    assert await store.ledger.verify() == []
    await store.close()


async def test_that_there_is_no_space_is_known_until_something_is_written(disk: Path) -> None:
    """Neither reading nor what finds nothing to write shows that there is some."""
    store = await open_store(LedgerSettings(), home=disk, clock=HandClock())
    held = await store.leases.acquire("slot/a", "me", 15)
    ballast = fill(disk)
    known = []
    with pytest.raises(LedgerFull):
        await store.ledger.append(fact(0))
    known.append(store.writer.full)
    await store.ledger.head()
    assert await store.leases.acquire("slot/a", "another", 15) is None
    known.append(store.writer.full)
    ballast.unlink()
    assert held is not None
    await store.leases.renew(held, 15)
    known.append(store.writer.full)
    await store.close()

    assert [each is not None for each in known] == [True, True, False]


async def test_a_new_ledger_on_a_full_disk_is_told(disk: Path) -> None:
    fill(disk)

    with pytest.raises(LedgerUnavailable, match=r"is full|reports a fault"):
        await open_store(LedgerSettings(), home=disk, clock=HandClock())


async def test_a_file_that_reaches_its_quota_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    finished, _, said = filled(tmp_path, 600_000).partition(" ")

    assert int(finished) > 10
    assert "is full" in said or "reports a fault" in said
    store = await open_store(LedgerSettings(), home=tmp_path, clock=HandClock())
    assert await store.ledger.head() == int(finished)
    assert await store.ledger.verify() == []
    await store.close()


def filled(home: Path, limit: int) -> str:
    """Let a process append until its files have reached the limit, and return what it said."""
    filler = Path(__file__).with_name("filler.py")
    return subprocess.run(
        [sys.executable, str(filler), str(home), str(limit)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
