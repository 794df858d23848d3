"""Many tiny branches at once, each result persisted, against as many raw commits taken one by one in the same run.

    python bench/fan_out.py [--json] [--branches 1000 10000] [--repeat 3] [--folder /dev/shm --folder .]

An *order* branch is one event with a 90-byte result in the stream of the order that all branches belong to, stored as
the engine's journal stores what is ready at the same moment: in one append. A *ledger* branch is an append of its own,
to a new stream of its own, as orders for others make them. An *engine* branch is all that the step engine does for one
repetition of `for_each`, 64 at once, the most a plan may ask for. `commits` counts those of the ledger for the whole
fan-out. It is timed as a whole, so that other work on the machine weighs on it more than on the short raw commits: the
processor time of a branch tells how much of it is ours.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rig import RESULT, commits, engine_on, folders, kind_of, lengths_on, middle, open_raw, order_over, parser, show, us

from contracts import ExecutionId, OrderId
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings


async def order_branches(store: SqlStore, count: int) -> None:
    events = [NewEvent("step.finished", RESULT) for _ in range(count)]
    await store.ledger.append(Append(OrderId.new(), events, 0, "bench", "/organisation/bench", ExecutionId.new(), "b"))


async def ledger_branches(store: SqlStore, count: int) -> None:
    execution = ExecutionId.new()

    async def branch() -> None:
        event = NewEvent("step.finished", RESULT)
        await store.ledger.append(Append(OrderId.new(), [event], 0, "bench", "/organisation/bench", execution, "bench"))

    await asyncio.gather(*(branch() for _ in range(count)))


async def engine_branches(store: SqlStore, count: int) -> None:
    await engine_on(store, lambda: None).run(order_over(count, at_once=64))


KINDS = {"order": order_branches, "ledger": ledger_branches, "engine": engine_branches}


async def measure(folder: Path, kind: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="fan-out-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        raw = open_raw(Path(home) / "raw.db")
        seen: list[int] = []
        await KINDS[kind](store, 20)  # what is loaded when first used is loaded
        gc.collect()  # what the start made is looked through now, and not on the account of the branches
        store.ledger.on_commit(lambda events: seen.append(len(events)))
        theirs = sum(commits(raw, count // 2))
        begun, worked = time.perf_counter(), time.process_time()
        await KINDS[kind](store, count)
        ours, worked = time.perf_counter() - begun, time.process_time() - worked
        theirs += sum(commits(raw, count - count // 2))
        raw.close()
        await store.close()
    return {
        "kind": kind,
        "branches": count,
        "branch_us": us(ours / count),
        "processor_us": us(worked / count),
        "raw_commit_us": us(theirs / count),
        "ratio": round(ours / theirs, 2),
        "commits": len(seen),
    }


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    places = []
    for folder in folders(arguments.folder):
        found = [
            middle([await measure(folder, kind, count) for _ in range(arguments.repeat)], "ratio")
            for kind in KINDS
            for count in lengths_on(folder, arguments.branches)
        ]
        places.append({"on": kind_of(folder), "found": found})
    return {"bench": "fan_out", "places": places}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = []
    for place in found["places"]:
        told.append(place["on"])
        told += [
            f"  {run['kind']:>6}, {run['branches']:>6} branches: {run['branch_us']:>6} µs each in {run['commits']} "
            f"commits, {run['raw_commit_us']} µs a raw commit, ratio {run['ratio']}"
            for run in place["found"]
        ]
    return told


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--branches", type=int, nargs="+", default=[1_000, 10_000])
    made.add_argument("--repeat", type=int, default=3, help="runs of each size; the median ratio is reported")
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
