"""A process that is killed while a model is asked: what the request may have cost is counted, once."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from contracts import Budget, Limit, OrderState, TaskOrder, Usage
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.model import done
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.script import held
from tests.fakes.openai_server.server import OpenAIServer
from tests.runtime.engine.react.over_http import MOST_TOKENS, asking

__all__ = ["openai_server"]
pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]
THINK: dict[str, Any] = {"id": "think", "react": "How many?", "gives": {"n": "integer"}}
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from contracts import TaskOrder
from runtime.engine.react import signs
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.engine.react.over_http import asking

async def main():
    home, clock = Path(sys.argv[1]), HandClock()
    signs.TOLD_AFTER_S = 0.01
    store = await open_store(LedgerSettings(flush_ms=1), home=home, clock=clock)
    async with asking(store, clock, sys.argv[2]) as world:
        await world.run(TaskOrder.read(json.loads((home / "order.json").read_text())))

asyncio.run(main())
"""


async def killed(home: Path, store: SqlStore, order: TaskOrder, server: OpenAIServer) -> None:
    """Let another process ask until its request is under way and told, and kill it."""
    (home / "order.json").write_text(json.dumps(order.to_json()))
    before, asked = await store.fragments.head(), server.count()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(home), server.base_url, cwd=ROOT)
    async with asyncio.timeout(60):
        while await store.fragments.head() == before:  # noqa: ASYNC110  (another process writes it)
            await asyncio.sleep(0.05)
    await server.until(lambda: server.count() > asked)
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def test_the_request_that_a_kill_met_is_counted_once(
    tmp_path: Path, sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer
) -> None:
    openai_server.plays(held(done(n=1)), held(done(n=1)), done(n=1))
    async with asking(sqlite_store, clock, openai_server.base_url) as world:
        order = world.order(THINK)
        for _ in range(2):
            await killed(tmp_path, sqlite_store, order, openai_server)
        report = await world.run(order)

        events = await sqlite_store.ledger.read(str(order.order_id))
        lost = [Usage.read((event.data or {})["usage"]) for event in events if event.type == "model.stopped"]
        again = await world.run(order)

    assert report.state is OrderState.DONE
    assert [usage.tokens_out for usage in lost] == [MOST_TOKENS, MOST_TOKENS]
    assert report.usage.tokens_in == sum(usage.tokens_in for usage in lost) + 10
    assert again.usage == report.usage


async def test_a_budget_of_tokens_counts_what_a_kill_met(
    tmp_path: Path, sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer
) -> None:
    openai_server.plays(held(done(n=1)))
    async with asking(sqlite_store, clock, openai_server.base_url) as world:
        order = world.order(THINK, budget=Budget(tokens=3_000))
        await killed(tmp_path, sqlite_store, order, openai_server)
        report = await world.run(order)

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert (report.asks.limit, openai_server.count()) == (Limit.TOKENS, 1)
