"""Real processes, really killed, in the middle of a conversation."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from contracts import CardId, Effect, OrderState, TaskOrder
from runtime.ledger import open_store
from runtime.ledger.port import Store
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import PlayedModel, calls, done

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]
TEN = {"id": "think", "react": "Go.", "tools": ["line"], "gives": {"n": "integer"}}

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from contracts import TaskOrder
from tests.runtime.engine.react.test_kill import a_world

async def main():
    home = Path(sys.argv[1])
    world = await a_world(home, stuck=True)
    order = TaskOrder.read(json.loads((home / "order.json").read_text()))
    report = await world.run(order)
    (home / "waiting.json").write_text(json.dumps(report.waiting_for))
    print("stuck", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


class ToldModel(PlayedModel):
    """Writes a line for each request, so that those of a process that died are counted too."""

    def __init__(self, home: Path, *answers: Any) -> None:
        super().__init__(*answers)
        self._home = home

    async def ask(self, request: Any) -> Any:
        answer = await super().ask(request)
        write_line(self._home, f"asked{max(self.asked)}")
        return answer


async def results(store: Store, order: TaskOrder) -> int:
    """Return how many results of calls are in the ledger."""
    return sum(event.type == "call.finished" for event in await store.ledger.read(str(order.order_id)))


def write_line(home: Path, line: str) -> None:
    with (home / "lines").open("a") as lines:
        lines.write(f"{line}\n")


async def a_world(home: Path, *, stuck: bool) -> World:
    """Return a world whose tool writes a line for each call; from the fourth on it hangs, if it is to be stuck."""
    clock = HandClock()
    store = await open_store(LedgerSettings(), home=home, clock=clock)

    async def line(arguments: Any, context: Any) -> dict[str, object]:
        write_line(home, f"call{arguments['n']}")
        if stuck and arguments["n"] > 3:
            while await results(store, context.order) < 3:  # noqa: ASYNC110  (a commit is nothing to wait on)
                await asyncio.sleep(0)
            print("stuck", flush=True)
            await asyncio.Event().wait()
        return {"n": arguments["n"]}

    def pay(arguments: Any, context: Any) -> dict[str, object]:
        write_line(home, f"paid {arguments['to']}")
        return {"paid": arguments["to"]}

    world = World(store, clock, Tool("line", line), Tool("pay", pay, Effect.WRITE))
    name = "pay" if (home / "pays").exists() else "line"
    world.gate.ask = name == "pay"
    asked = [("line", {"n": n}) for n in range(1, 11)] if name == "line" else [("pay", {"to": who}) for who in "abc"]
    world.model = ToldModel(home, calls(*asked), done(n=10))
    return world


async def killed(home: Path, order: TaskOrder) -> None:
    """Let another process run the order until it is stuck, and kill it."""
    (home / "order.json").write_text(json.dumps(order.to_json()))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(home), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"stuck\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def test_after_the_third_result_of_ten_no_answer_is_asked_again_and_seven_calls_run(tmp_path: Path) -> None:
    """D5: kill -9 between tool results."""
    world = await a_world(tmp_path, stuck=False)
    order = world.order(TEN)
    await killed(tmp_path, order)

    report = await world.run(TaskOrder.read(order.to_json()))

    lines = Counter((tmp_path / "lines").read_text().split())
    assert report.state is OrderState.DONE
    assert lines == {"asked0": 1, "asked1": 1, **{f"call{n}": 2 if n in (4, 5) else 1 for n in range(1, 11)}}
    assert len(world.tools["line"].calls) == 7
    await world.store.close()


async def test_approvals_given_after_the_process_died_run_what_they_approve_once(tmp_path: Path) -> None:
    """D2, D4: three cards of one answer, decided in another process than the one that raised them."""
    (tmp_path / "pays").touch()
    world = await a_world(tmp_path, stuck=False)
    order = world.order({**TEN, "tools": ["pay"]})
    await killed(tmp_path, order)
    cards = [CardId(each) for each in json.loads((tmp_path / "waiting.json").read_text())]
    for card, yes in zip(cards, (False, True, False), strict=True):
        world.gate.decide(card, yes)

    report = await world.run(TaskOrder.read(order.to_json()))

    assert report.state is OrderState.DONE
    assert (tmp_path / "lines").read_text().splitlines() == ["asked0", "paid b", "asked1"]
    await world.store.close()
