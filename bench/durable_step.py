"""Sequential durable steps against the raw limit: single-row WAL commits of sqlite3 on the same disk, in the same run.

    python bench/durable_step.py [--json] [--steps 100 1000 10000] [--repeat 3] [--folder /dev/shm --folder .]

Two things are measured. A *ledger step* is one `append` of one `step.finished` event with a 90-byte result. An *engine
step* is all that the step engine does for one: bind the arguments, call a capability that gives 90 bytes, check and
clean what it gave, write down the evidence, and commit event and checkpoint. Every side runs with synchronous=FULL and
they take turns, fifty at a time, so that a busy machine slows all alike; medians are compared. `flatness` is the ratio
of the last hundred steps over that of the first hundred: 1 when a long history costs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rig import (
    RESULT,
    commits,
    engine_on,
    folders,
    kind_of,
    lengths_on,
    median,
    middle,
    open_raw,
    order_over,
    parser,
    show,
    us,
)

from contracts import ExecutionId, OrderId
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings

TURN = 50


class Turns:
    """Times the engine between two calls of its capability; after each fifty the raw limit has its turn."""

    def __init__(self, home: Path) -> None:
        self.raw = open_raw(home / "raw.db")
        self.ours: list[float] = []
        self.theirs: list[float] = []
        self._last = 0.0

    def __call__(self) -> None:
        now = time.perf_counter()
        if self._last:
            self.ours.append(now - self._last)
        if len(self.ours) % TURN == 0:
            self.theirs += commits(self.raw, TURN)
            now = time.perf_counter()
        self._last = now


async def engine_steps(home: Path, count: int) -> tuple[list[float], list[float]]:
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    turns = Turns(home)
    await engine_on(store, turns).run(order_over(count + 1, at_once=1))
    turns.raw.close()
    await store.close()
    return turns.ours, turns.theirs


async def ledger_steps(home: Path, count: int) -> tuple[list[float], list[float]]:
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    raw = open_raw(home / "raw.db")
    order, execution = OrderId.new(), ExecutionId.new()
    ours: list[float] = []
    theirs: list[float] = []
    for first in range(0, count, TURN):
        theirs += commits(raw, TURN)
        ours += await _appends(store, order, execution, first, TURN)
    raw.close()
    await store.close()
    return ours, theirs


async def _appends(store: SqlStore, order: OrderId, execution: ExecutionId, first: int, count: int) -> list[float]:
    taken = []
    for number in range(first, first + count):
        append = Append(
            stream=order,
            events=[NewEvent("step.finished", RESULT)],
            expected_version=number,
            organisation="bench",
            source="/organisation/bench/worker",
            execution_id=execution,
            trace_id="bench",
        )
        begun = time.perf_counter()
        await store.ledger.append(append)
        taken.append(time.perf_counter() - begun)
    return taken


KINDS = {"ledger": ledger_steps, "engine": engine_steps}


async def measure(folder: Path, kind: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="durable-step-") as home:
        ours, theirs = await KINDS[kind](Path(home), count)
    edge = min(100, count // 2)
    first, last = median(ours[:edge]) / median(theirs[:edge]), median(ours[-edge:]) / median(theirs[-edge:])
    return {
        "kind": kind,
        "steps": count,
        "step_us": us(median(ours)),
        "raw_commit_us": us(median(theirs)),
        "ratio": round(median(ours) / median(theirs), 2),
        "flatness": round(last / first, 2),
    }


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    places = []
    for folder in folders(arguments.folder):
        found = [
            middle([await measure(folder, kind, count) for _ in range(arguments.repeat)], "ratio")
            for kind in KINDS
            for count in lengths_on(folder, arguments.steps)
        ]
        places.append({"on": kind_of(folder), "found": found})
    return {"bench": "durable_step", "places": places}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = []
    for place in found["places"]:
        told.append(place["on"])
        told += [
            f"  {run['kind']:>6}, {run['steps']:>6} steps: {run['step_us']:>7} µs a step, {run['raw_commit_us']:>7} µs "
            f"a raw commit, ratio {run['ratio']}, flatness {run['flatness']}"
            for run in place["found"]
        ]
    return told


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--steps", type=int, nargs="+", default=[100, 1_000, 10_000])
    made.add_argument("--repeat", type=int, default=3, help="runs of each length; the median ratio is reported")
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
