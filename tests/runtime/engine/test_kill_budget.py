"""A real process, really killed while calls are announced, paid for and not settled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from contracts import Budget, Money, OrderState, TaskOrder
from runtime.capabilities.port import CallContext
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.killed import killed_when_stuck

pytestmark = pytest.mark.anyio
PRICE = Money.parse("1 USD")


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
    await killed_when_stuck("tests.runtime.engine.test_kill_budget", tmp_path, order)

    report = await world.run(TaskOrder.read(order.to_json()))

    paid = set((tmp_path / "paid").read_text().split())
    assert (report.state, report.usage.money, len(paid)) == (OrderState.PARTIAL, (Money.parse("3 USD"),), 3)
    await world.store.close()
