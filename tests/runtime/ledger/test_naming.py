"""Every blob that a run stores is named by one of its events, where the audit looks for it."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts import PlanDefinition
from runtime.capabilities.port import CallResult, NewFile
from runtime.ledger.naming import named_by
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


async def test_long_outputs_files_held_results_and_long_orders_are_all_named(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    file = NewFile("report.md", "text/markdown", b"# Report")
    world = World(
        sqlite_store, clock,
        Tool("long", lambda a, c: {"rows": ["long"] * 10_000}),
        Tool("odd", lambda a, c: {"rows": ["odd"] * 10_000}),
        Tool("file", lambda a, c: CallResult({}, files=(file,))),
    )  # fmt: skip
    world.skills["below"] = PlanDefinition.model_validate({"steps": [{"id": "x", "use": "file"}]})
    order = world.order(
        {"id": "a", "use": "long"},
        {"id": "b", "use": "file"},
        {"id": "c", "use": "odd", "plausible": [{"check": "rows.size() == 0", "message": "Odd."}]},
        {"id": "d", "by": "clerk", "skill": "below", "with": {"rows": "{{ a.rows }}"}},
    )
    await world.run(order)

    named = {name for event in await sqlite_store.ledger.read_all() for name in named_by(event.type, event.data)}
    with closing(sqlite3.connect(tmp_path / "silicon.db")) as database:
        stored = {row[0] for row in database.execute("SELECT sha256 FROM blobs")}
    assert hashlib.sha256(file.data).hexdigest() in stored
    assert len(stored) == 4
    assert stored == named
    assert await sqlite_store.ledger.verify() == []
