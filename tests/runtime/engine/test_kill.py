"""A real process, really killed."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from contracts import OrderState, TaskOrder
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.killed import killed_when_stuck

pytestmark = pytest.mark.anyio
STUCK = 12


async def a_world(home: Path, *, stuck: bool) -> World:
    """Return a world whose tool writes a line for each call; at step 12 it says so and hangs, if it is to be stuck."""
    clock = HandClock()
    store = await open_store(LedgerSettings(), home=home, clock=clock)

    async def write_line(arguments: object, context: object) -> dict[str, object]:
        step = context.step  # type: ignore[attr-defined]
        with (home / "lines").open("a") as lines:
            lines.write(f"{step}\n")
        if stuck and step == f"s{STUCK}":
            print("stuck", flush=True)
            await asyncio.Event().wait()
        return {"step": step}

    return World(store, clock, Tool("line", write_line))


async def test_a_process_killed_at_step_twelve_of_fifteen_goes_on_at_step_twelve(tmp_path: Path) -> None:
    world = await a_world(tmp_path, stuck=False)
    steps = [{"id": f"s{n}", "use": "line", "after": [f"s{n - 1}"] if n > 1 else []} for n in range(1, 16)]
    order = world.order(*steps)
    await killed_when_stuck("tests.runtime.engine.test_kill", tmp_path, order)

    report = await world.run(TaskOrder.read(order.to_json()))

    lines = Counter((tmp_path / "lines").read_text().split())
    assert report.state is OrderState.DONE
    assert lines == {f"s{n}": 2 if n == STUCK else 1 for n in range(1, 16)}
    await world.store.close()
