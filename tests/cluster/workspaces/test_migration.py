"""Warm migration: an order whose slot is gone goes on in another one, with the files of its finished steps."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cluster.evidence import packages_of
from cluster.workspaces import files_stream
from contracts import EvidenceKind, OrderState, PlanDefinition, TaskOrder, Workspace
from runtime.capabilities.port import CallContext
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.cluster.workspaces.conftest import tree_of
from tests.cluster.workspaces.holder import carry_out
from tests.cluster.workspaces.test_order_files import remove_blobs
from tests.fakes.engine_world import Tool
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]


def three_steps(**more: Any) -> TaskOrder:
    steps = (
        {"id": "one", "use": "files.write", "with": {"path": "one.txt", "text": "1"}},
        {"id": "two", "use": "python", "with": {"script": PYTHON}, "after": ["one"]},
        {"id": "three", "use": "third", "after": ["two"]},
    )
    return an_order(plan=PlanDefinition.model_validate({"steps": steps}), **more)


PYTHON = """
import os
os.makedirs('workspace/tables')
open('workspace/tables/two.csv', 'w').write(open('one.txt').read() + ',2')
result = 2
"""


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.cluster.workspaces.holder", *arguments,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()


async def killed_in_its_third_step(home: Path, order: TaskOrder) -> None:
    async with process(str(home), order.model_dump_json(by_alias=True)) as holder, asyncio.timeout(60):
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"holding\n"
        holder.send_signal(signal.SIGKILL)
        await holder.wait()


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(LedgerSettings(), home=tmp_path, clock=SystemClock())
    yield store
    await store.close()


def starts(events: Sequence[Any], step: str) -> int:
    return sum(event.type == "step.finished" and event.data["step"] == step for event in events)


async def test_the_step_that_was_killed_finds_the_files_of_those_before_it_on_another_node(
    tmp_path: Path, ledger: SqlStore
) -> None:
    order = three_steps(workspace=Workspace())
    await killed_in_its_third_step(tmp_path, order)
    found: list[dict[str, Any]] = []

    def look(arguments: Any, context: CallContext) -> dict[str, Any]:
        assert context.sandbox is not None
        found.append(tree_of(context.sandbox.folder))
        (context.sandbox.folder / "workspace" / "three.txt").write_text("3")
        return {"n": 3}

    report = await carry_out(tmp_path / "another-node", order, ledger, Tool("third", look))

    events = await ledger.ledger.read(order.order_id)
    (package,) = packages_of(await ledger.ledger.read(f"evidence/{order.order_id.ulid}"))
    assert report.state is OrderState.DONE
    assert [{name: what[0] for name, what in each.items()} for each in found] == [
        {"one.txt": b"1", "workspace/tables/two.csv": b"1,2"}
    ]
    assert [starts(events, step) for step in ("one", "two", "three")] == [1, 1, 1]
    assert sum(event.type == "order.allocated" for event in events) == 2
    files = [(item.step, item.facts["name"]) for item in package.items if item.kind is EvidenceKind.FILE]
    assert files == [("one", "one.txt"), ("two", "workspace/tables/two.csv"), ("three", "workspace/three.txt")]
    assert list((tmp_path / "another-node" / "slots").iterdir()) == []


async def test_a_file_that_cannot_be_restored_stops_the_order_by_name_before_anything_is_redone(
    tmp_path: Path, ledger: SqlStore
) -> None:
    order = three_steps()
    await killed_in_its_third_step(tmp_path, order)
    remove_blobs(tmp_path / "silicon.db")
    third = Tool("third", lambda arguments, context: {"n": 3})

    report = await carry_out(tmp_path, order, ledger, third)

    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert report.error.code == "WORKSPACE_MISMATCH"
    assert report.error.facts["path"] == "one.txt"
    assert third.calls == []
    assert len(await ledger.ledger.read(files_stream(order.order_id))) == 2
