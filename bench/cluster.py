"""What the queue of the cluster costs for each order, with few and with many in line; how fast it gets over a death.

    python bench/cluster.py [--json] [--orders 1000] [--queues 100 10000] [--repeat 3] [--folder /dev/shm]

A queue of each length is filled and kept at that length, while orders go through eight slots: each is put into the
queue, gets its slot when another one ends, and ends. The time of that, without any work in the slot, is the scheduler's
overhead for one order; the lengths take turns. Raw is one row and one commit. Then 10,000 orders of four executions,
or as many as the longest queue, are served to the end. For the recovery a process that holds an order is killed, and
then one is stopped, with leases of one second: the time is that until another process has the order.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rig import commits, folders, kind_of, median, open_raw, parser, show, us

from cluster import ControlPlane, Node, open_control_plane
from cluster.control_plane import Accepted, Seen
from contracts import ExecutionId, NodeId, OrderId, OrderState, PlanDefinition, StatusReport, Step, TaskOrder, Tier
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import ClusterSettings, LedgerSettings, SlotSettings

SLOTS = 8
LEASE_S = 1.0
LOOK_S = 0.02


def an_order(execution: ExecutionId | None = None) -> TaskOrder:
    plan = PlanDefinition(steps=(Step(id="do", use="work"),))
    return TaskOrder(
        order_id=OrderId.new(), execution_id=execution or ExecutionId.new(), organisation="bench", employee="e",
        issued_by="b", objective="o", plan=plan, tier=Tier.EXECUTION, requested_by="b", trace_id="0" * 32,
    )  # fmt: skip


@asynccontextmanager
async def opened(home: Path, *, slots: int = SLOTS, lease_s: float = 3_600) -> AsyncIterator[ControlPlane]:
    """Give the control plane of one more process that serves a node of its own."""
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    cluster = ClusterSettings(beat_s=lease_s / 3)
    node = Node(NodeId.new(), slots)
    plane = open_control_plane(store, node, SystemClock(), slot=SlotSettings(lease_s=lease_s), cluster=cluster)
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    try:
        yield plane
    finally:
        await store.close()


async def end(plane: ControlPlane, accepted: Accepted) -> list[Accepted]:
    report = StatusReport(order_id=accepted.order_id, state=OrderState.DONE)
    return list(await plane.finish(accepted.order_id, accepted.held, report))


async def overhead(folder: Path, queue: int, orders: int) -> float:
    """Return the seconds that one order costs while so many wait."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="cluster-") as home:
        async with opened(Path(home)) as plane:
            executions = [ExecutionId.new() for _ in range(4)]
            begun: list[Accepted] = []
            for number in range(queue + SLOTS):
                begun += (await plane.enqueue(an_order(executions[number % 4]))).accepted
            more = [an_order(executions[number % 4]) for number in range(orders)]
            started = time.perf_counter()
            for order in more:
                await plane.enqueue(order)
                begun += await end(plane, begun.pop(0))
            return (time.perf_counter() - started) / orders


async def served(folder: Path, orders: int) -> float:
    """Return how many orders a second go through the slots, from an empty queue to an empty queue."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="cluster-") as home:
        async with opened(Path(home)) as plane:
            executions, begun = [ExecutionId.new() for _ in range(4)], list[Accepted]()
            started = time.perf_counter()
            for number in range(orders):
                begun += (await plane.enqueue(an_order(executions[number % 4]))).accepted
            while begun:
                begun += await end(plane, begun.pop(0))
            return orders / (time.perf_counter() - started)


def raw(folder: Path, count: int) -> float:
    with tempfile.TemporaryDirectory(dir=folder, prefix="cluster-") as home:
        connection = open_raw(Path(home) / "raw.db")
        try:
            return median(commits(connection, count))
        finally:
            connection.close()


async def recovery(folder: Path, how: signal.Signals) -> float:
    """Return the seconds from a process's end, or stop, until another has its order."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="cluster-") as home:
        async with opened(Path(home), slots=1, lease_s=LEASE_S) as plane:
            child = await asyncio.create_subprocess_exec(
                sys.executable, __file__, "--hold", home, stdout=asyncio.subprocess.PIPE
            )
            assert child.stdout is not None
            await child.stdout.readline()
            mine = await plane.take(an_order())
            assert mine is not None
            order = an_order()
            await plane.enqueue(order)
            await child.stdout.readline()
            await plane.release(mine)
            os.kill(child.pid, how)
            started = time.perf_counter()
            await until_accepted(plane)
            taken = time.perf_counter() - started
            with contextlib.suppress(ProcessLookupError):  # the one that was killed is gone already
                child.kill()
            await child.wait()
            return taken


async def until_accepted(plane: ControlPlane) -> Accepted:
    """Look, as often as a busy process does, until there is an order to be begun."""
    while True:
        seen = await looked(plane)
        if seen.accepted:
            return seen.accepted[0]
        await asyncio.sleep(LOOK_S)


async def looked(plane: ControlPlane) -> Seen:
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    return await plane.look()


async def hold(home: Path) -> None:
    """Take an order and keep it, as a process that is about to die does."""
    async with opened(home, slots=4, lease_s=LEASE_S) as plane:
        print("serving", flush=True)
        held = (await until_accepted(plane)).held
        print("holding", flush=True)
        while True:
            await plane.renew(held)
            await looked(plane)
            await asyncio.sleep(LEASE_S / 3)


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    folder, queues = folders(arguments.folder)[0], sorted(arguments.queues)
    taken: dict[int, list[float]] = {queue: [] for queue in queues}
    limit = []
    for _ in range(arguments.repeat):
        limit.append(raw(folder, arguments.orders))
        for queue in queues:
            taken[queue].append(await overhead(folder, queue, arguments.orders))
    each = {queue: median(times) for queue, times in taken.items()}
    return {
        "bench": "cluster",
        "on": kind_of(folder),
        "orders": arguments.orders,
        "slots": SLOTS,
        "raw_us": us(median(limit)),
        "order_us": {str(queue): us(seconds) for queue, seconds in each.items()},
        "of_raw": round(each[queues[0]] / median(limit), 1),
        "longest_of_shortest": round(each[queues[-1]] / each[queues[0]], 2),
        "served": queues[-1],
        "served_per_s": round(await served(folder, queues[-1])),
        "lease_s": LEASE_S,
        "recovery_killed_s": round(await recovery(folder, signal.SIGKILL), 2),
        "recovery_stopped_s": round(await recovery(folder, signal.SIGSTOP), 2),
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    return [
        *(f"{queue} in line: {cost} µs for an order" for queue, cost in found["order_us"].items()),
        f"{found['of_raw']} raw commits of {found['raw_us']} µs; {found['longest_of_shortest']} times as much with the "
        "longest queue",
        f"{found['served']} orders through {found['slots']} slots: {found['served_per_s']} a second",
        f"another process has the order {found['recovery_killed_s']} s after a kill, {found['recovery_stopped_s']} s "
        f"after a stop, with leases of {found['lease_s']:g} s",
    ]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--orders", type=int, default=1_000)
    made.add_argument("--queues", type=int, nargs="+", default=[100, 10_000])
    made.add_argument("--repeat", type=int, default=3)
    made.add_argument("--hold", type=Path, help=argparse.SUPPRESS)
    arguments = made.parse_args()
    if arguments.hold:
        asyncio.run(hold(arguments.hold))
        return
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
