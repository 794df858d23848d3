"""A real process, really killed while calls are announced, paid for and not settled."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from contracts import Budget, Money, OrderState, TaskOrder
from runtime.capabilities.port import CallContext
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
PRICE = Money.parse("1 USD")

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from contracts import TaskOrder
from tests.runtime.engine.test_kill_budget import a_world

async def main():
    home = Path(sys.argv[1])
    world = await a_world(home, stuck=True)
    await world.run(TaskOrder.read(json.loads((home / "order.json").read_text())))

asyncio.run(main())
"""


async def a_world(home: Path, *, stuck: bool) -> World:
    """Return a world with a paid tool, which writes down each key it is called with and hangs at the second."""
    clock = HandClock()
    store = await open_store(LedgerSettings(), home=home, clock=clock)
    called = 0

    async def pay(arguments: object, context: CallContext) -> dict[str, object]:
        nonlocal called
        called += 1
        with (home / "paid").open("a") as paid:
            paid.write(f"{context.key}\n")
        if stuck and called >= 2:
            if called == 3:
                print("stuck", flush=True)
            await asyncio.Event().wait()
        return {"n": 1}

    return World(store, clock, Tool("paid", pay, costs=(PRICE,)))


async def test_killed_between_reserving_and_settling_the_same_three_calls_are_paid_and_no_money_is_lost(
    tmp_path: Path,
) -> None:
    """O6: 20 parallel calls with money for 3, and a crash in the middle of them."""
    world = await a_world(tmp_path, stuck=False)
    step = {"id": "each", "for_each": "{{ items }}", "at_once": 20, "use": "paid", "with": {"n": "{{ item }}"}}
    plan = {"parameters": {"items": {"type": "array"}}}
    budget = Budget(money=Money.parse("3 USD"))
    order = world.order(step, plan=plan, inputs={"items": list(range(20))}, budget=budget)
    (tmp_path / "order.json").write_text(json.dumps(order.to_json()))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"stuck\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()

    report = await world.run(TaskOrder.read(order.to_json()))

    paid = set((tmp_path / "paid").read_text().split())
    assert (report.state, report.usage.money, len(paid)) == (OrderState.PARTIAL, (Money.parse("3 USD"),), 3)
    await world.store.close()
