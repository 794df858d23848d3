"""What a step costs, where that can be counted: commits, and bytes in the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts import OrderState
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
RESULT = {"result": "x" * 77}


def commits_of(store: SqlStore) -> list[int]:
    """Return a list that grows by each commit's number of events."""
    seen: list[int] = []
    store.ledger.on_commit(lambda events: seen.append(len(events)))
    return seen


def world_on(store: SqlStore) -> World:
    world = World(store, HandClock(), Tool("work", lambda arguments, context: RESULT))
    world.snapshot_events = LedgerSettings().snapshot_events
    return world


def over(count: int, at_once: int) -> tuple[dict[str, Any], dict[str, Any]]:
    step = {"id": "each", "use": "work", "for_each": "{{ context.items }}", "with": {"n": "{{ item }}"}}
    return {**step, "at_once": at_once}, {"context": {"items": list(range(count))}}


async def test_a_thousand_branches_are_in_the_ledger_after_at_most_twenty_commits(sqlite_store: SqlStore) -> None:
    world, commits = world_on(sqlite_store), commits_of(sqlite_store)
    step, more = over(1_000, at_once=64)

    report = await world.run(world.order(step, **more))

    assert (report.state, report.usage.steps) == (OrderState.DONE, 1_000)
    assert len(commits) <= 20
    assert sum(commits) == 1 + 1_000 + 2


async def test_each_sequential_step_is_one_commit_and_its_snapshots_are_none(sqlite_store: SqlStore) -> None:
    world, commits = world_on(sqlite_store), commits_of(sqlite_store)
    step, more = over(250, at_once=1)
    order = world.order(step, **more)

    await world.run(order)

    assert commits == [1 + 1] + [1] * 249 + [1 + 1], "the order begins with its first step and ends with its last"
    assert len(await sqlite_store.ledger.snapshots(str(order.order_id))) == 2


async def test_the_bytes_of_a_step_do_not_grow_with_its_history(tmp_path: Path) -> None:
    sizes = [await file_size(tmp_path / str(count), count) for count in (100, 400, 1_000)]
    first, later = (sizes[1] - sizes[0]) / 300, (sizes[2] - sizes[1]) / 600

    assert later <= 1.1 * first
    assert later < 420  # 81 of them say what the call was made with


async def file_size(home: Path, steps: int) -> int:
    """Return the bytes of a file with so many steps in it, indexes and all."""
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=HandClock())
    world = world_on(store)
    step, more = over(steps, at_once=1)
    await world.run(world.order(step, plan={"gives": {"n": steps}}, **more))
    await store.close()
    with closing(sqlite3.connect(home / "silicon.db")) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((pages,), (size,)) = (file.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages * size)
