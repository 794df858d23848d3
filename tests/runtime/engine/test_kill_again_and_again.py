"""One execution, killed with SIGKILL at twenty random points; each life is forked from a warmed process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from contracts import OrderState, StatusReport, TaskOrder
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

ROOT = Path(__file__).parents[3]
DEATHS = 20
STEPS = 1_000
PROGRAM = """
import sys
from pathlib import Path
from tests.runtime.engine.test_kill_again_and_again import lives

lives(Path(sys.argv[1]), seed=7)
"""


class Life:
    """One process: it writes down what it calls, and dies at the moment that was drawn for it, if one was."""

    def __init__(self, home: Path, seed: int | None) -> None:
        self._file = (home / "calls").open("a")
        self._known: set[int] = set()
        draw = random.Random(seed)
        self._calls_left = draw.randint(1, 90) if seed is not None else STEPS * 9
        self._place = draw.choice(("before", "after", "committed"))

    async def go_on(self, home: Path) -> StatusReport:
        """Carry the order out from where it stands."""
        store = await open_store(LedgerSettings(), home=home, clock=HandClock())
        order = TaskOrder.read(json.loads((home / "order.json").read_text()))
        self._known = await finished(store, order)
        world = World(store, HandClock(), Tool("work", self._call))
        world.snapshot_events = 100
        store.ledger.on_commit(lambda events: self._die("committed"))
        report = await world.run(order)
        await store.close()
        return report

    async def _call(self, arguments: Any, context: Any) -> dict[str, Any]:
        self._calls_left -= 1
        self._die("before")
        print(f"{'again' if arguments['n'] in self._known else 'call'} {arguments['n']}", file=self._file, flush=True)
        await asyncio.sleep(0)
        self._die("after")
        return {"n": arguments["n"]}

    def _die(self, place: str) -> None:
        if self._calls_left <= 0 and place == self._place:
            os.kill(os.getpid(), signal.SIGKILL)


async def finished(store: SqlStore, order: TaskOrder) -> set[int]:
    events = await store.ledger.read(str(order.order_id))
    return {int(str(e.data["index"])) for e in events if e.type == "step.finished" and e.data and "output" in e.data}


def lives(home: Path, seed: int) -> None:
    """Live and die `DEATHS` times, then live to the end. Runs in a process of its own, which has no threads."""
    for number in range(DEATHS + 1):
        child = os.fork()
        if child == 0:
            dies = number < DEATHS
            report = asyncio.run(Life(home, seed + number if dies else None).go_on(home))
            print(report.state, report.usage.steps, report.output == [{"n": n} for n in range(STEPS)], flush=True)
            os._exit(3 if dies else 0)
        _, status = os.waitpid(child, 0)
        if number < DEATHS and os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise SystemExit(f"life {number} ended by itself")


@pytest.mark.anyio
@pytest.mark.parametrize("at_once", [1, 16])
async def test_of_a_thousand_steps_at_most_those_in_flight_run_again_and_none_is_missing(
    tmp_path: Path, at_once: int
) -> None:
    world = World(await open_store(LedgerSettings(), home=tmp_path, clock=HandClock()), HandClock())
    step = {"id": "each", "use": "work", "for_each": "{{ context.items }}", "at_once": at_once}
    order = world.order({**step, "with": {"n": "{{ item }}"}}, context={"items": list(range(STEPS))})
    (tmp_path / "order.json").write_text(json.dumps(order.to_json()))

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(process.communicate(), 110)

    calls = Counter((tmp_path / "calls").read_text().splitlines())
    assert said.decode().split() == [OrderState.DONE.value, str(STEPS), "True"]
    assert not [line for line in calls if line.startswith("again")]
    assert {int(line.split()[1]) for line in calls} == set(range(STEPS))
    assert sum(calls.values()) - STEPS <= DEATHS * at_once
    assert await finished(world.store, order) == set(range(STEPS))  # type: ignore[arg-type]
    assert await world.store.ledger.verify() == []
    await world.store.close()
