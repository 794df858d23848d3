"""Several processes on one ledger, and one that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import defaultdict
from pathlib import Path

import pytest

from contracts import Event
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
APPENDER = Path(__file__).with_name("appender.py")
ROOT = Path(__file__).parents[3]


async def appender(url: str, name: str, count: int, *more: str) -> Process:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return await asyncio.create_subprocess_exec(
        sys.executable, str(APPENDER), url, name, str(count), *more, env=environment, stdout=PIPE
    )


async def test_a_cursor_sees_what_four_processes_append_once_and_in_order(store: SqlStore, store_url: str) -> None:
    processes = [await appender(store_url, f"p{number}", 60) for number in range(4)]
    seen: list[Event] = []
    async with asyncio.timeout(60):
        while len(seen) < 240:
            seen += await store.ledger.read_all(after=seen[-1].position if seen else 0, limit=7)
            assert not any(process.returncode for process in processes)
        assert [await process.wait() for process in processes] == [0] * 4

    assert [event.position for event in seen] == list(range(1, 241))
    assert each_in_its_own_order(seen) == {f"p{number}": list(range(60)) for number in range(4)}
    assert await store.ledger.verify() == []


@pytest.mark.xdist_group("crowd")
async def test_three_readers_follow_eight_writers_and_each_sees_every_event_once_and_in_order(
    store: SqlStore, store_url: str
) -> None:
    crowd = await asyncio.create_subprocess_exec(
        sys.executable, str(APPENDER.with_name("crowd.py")), store_url, "8", "2000", "3",
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(180):
            _, said = await crowd.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(crowd.pid, signal.SIGKILL)

    assert (crowd.returncode, said) == (0, b"")
    assert await store.ledger.head() == 16_000
    assert await store.ledger.verify() == []


async def test_what_was_finished_before_a_kill_is_there(store: SqlStore, store_url: str) -> None:
    process = await appender(store_url, "p", 100_000, "print")
    assert process.stdout is not None
    async with asyncio.timeout(30):
        told = [int(await process.stdout.readline()) for _ in range(40)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in (await process.stdout.read()).split()]
        await process.wait()

    stored = [event.position for event in await store.ledger.read_all(limit=100_000)]
    assert stored[: len(told)] == told and len(stored) - len(told) <= 1
    assert await store.ledger.verify() == []


async def test_processes_that_open_a_new_home_at_once_all_find_a_ledger(tmp_path: Path, clock: HandClock) -> None:
    home = tmp_path / "new" / "home"
    home.mkdir(parents=True)
    processes = [await appender(f"sqlite:///{home / 'silicon.db'}", f"p{number}", 3) for number in range(4)]
    async with asyncio.timeout(60):
        assert [await process.wait() for process in processes] == [0] * 4

    store = await open_store(LedgerSettings(), home=home, clock=clock)
    assert await store.ledger.head() == 12
    assert await store.ledger.verify() == []
    await store.close()


def each_in_its_own_order(events: list[Event]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for event in events:
        assert event.data is not None
        found[str(event.data["by"])].append(int(str(event.data["n"])))
    return dict(found)
