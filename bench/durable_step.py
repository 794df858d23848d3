"""Sequential durable steps against the raw limit: single-row WAL commits of sqlite3 on the same disk, in the same run.

    python bench/durable_step.py [--json] [--steps 100 300 1000] [--repeat 3] [--folder /dev/shm --folder .]

One durable step is one `append` of one `step.finished` event with a 90-byte result. Both sides run with
synchronous=FULL and take turns, fifty at a time, so that a busy machine slows both alike; the medians are compared.
`flatness` is the ratio of the last hundred steps over that of the first hundred: 1 when a long history costs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from contracts import ExecutionId, OrderId
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings

TURN = 50
RESULT = {"result": "x" * 78}  # 90 bytes as canonical JSON


async def steps(store: SqlStore, order: OrderId, execution: ExecutionId, first: int, count: int) -> list[float]:
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


def commits(raw: sqlite3.Connection, count: int) -> list[float]:
    data, taken = json.dumps(RESULT).encode(), []
    for _ in range(count):
        begun = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO step (data) VALUES (?)", (data,))
        raw.execute("COMMIT")
        taken.append(time.perf_counter() - begun)
    return taken


def open_raw(file: Path) -> sqlite3.Connection:
    raw = sqlite3.connect(file, isolation_level=None)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("CREATE TABLE step (id INTEGER PRIMARY KEY, data BLOB)")
    return raw


async def measure(folder: Path, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="durable-step-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        raw = open_raw(Path(home) / "raw.db")
        order, execution = OrderId.new(), ExecutionId.new()
        ours: list[float] = []
        theirs: list[float] = []
        for first in range(0, count, TURN):
            theirs += commits(raw, TURN)
            ours += await steps(store, order, execution, first, TURN)
        raw.close()
        await store.close()
    edge = min(100, count // 2)
    first, last = median(ours[:edge]) / median(theirs[:edge]), median(ours[-edge:]) / median(theirs[-edge:])
    return {
        "steps": count,
        "step_us": round(median(ours) * 1e6, 1),
        "raw_commit_us": round(median(theirs) * 1e6, 1),
        "ratio": round(median(ours) / median(theirs), 2),
        "flatness": round(last / first, 2),
    }


async def group_commit(folder: Path, count: int) -> dict[str, Any]:
    """How long it takes to store many results that are ready at the same moment."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="durable-step-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        commits_seen: list[int] = []
        store.ledger.on_commit(lambda events: commits_seen.append(len(events)))
        execution = ExecutionId.new()
        begun = time.perf_counter()
        await asyncio.gather(*(steps(store, OrderId.new(), execution, 0, 1) for _ in range(count)))
        taken = time.perf_counter() - begun
        await store.close()
    return {"results": count, "ms": round(taken * 1e3, 1), "commits": len(commits_seen)}


async def all_measurements(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    for folder in arguments.folder:
        runs = [
            sorted([await measure(folder, count) for _ in range(arguments.repeat)], key=lambda run: run["ratio"])
            for count in arguments.steps
        ]
        found.append(
            {
                "folder": str(folder),
                "sequential": [of_one_length[len(of_one_length) // 2] for of_one_length in runs],
                "concurrent": await group_commit(folder, 1_000),
            }
        )
    return found


def show(found: list[dict[str, Any]]) -> None:
    for place in found:
        print(place["folder"])
        for run in place["sequential"]:
            print(
                f"  {run['steps']:>5} steps: {run['step_us']:>7} µs a step, {run['raw_commit_us']:>7} µs a raw commit, "
                f"ratio {run['ratio']}, flatness {run['flatness']}"
            )
        many = place["concurrent"]
        print(f"  {many['results']} results at once: {many['ms']} ms in {many['commits']} commits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--steps", type=int, nargs="+", default=[100, 300, 1_000])
    parser.add_argument("--repeat", type=int, default=3, help="runs of each length; the median ratio is reported")
    parser.add_argument("--folder", type=Path, action="append", help="where to measure; may be given several times")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder or [place for place in (Path("/dev/shm"), Path.cwd()) if place.is_dir()]
    found = asyncio.run(all_measurements(arguments))
    if arguments.json:
        print(json.dumps({"bench": "durable_step", "places": found}))
    else:
        show(found)


if __name__ == "__main__":
    main()
