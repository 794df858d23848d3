"""A tree of 31 employees (1 → 5 → 25) with trivial work, against the same tree of bare calls that stores nothing.

    python bench/tree.py [--json] [--runs 20] [--engine inline --engine ray] [--folder /dev/shm]

*inline*: the whole of an execution, from its claim to its end, every dispatch and result stored; the bare tree is 31
asyncio tasks that return a number. Told are the medians of the time and of the *processor* time, and the fastest run of
each: on a busy machine a run of ours is long enough to be interrupted, a bare one hardly ever is. *ray*: the same
execution with its employees in host actors, one for each core; the bare tree sits in as many actors, each employee in
the actor in which ours sits, and stores nothing. *first answer* counts from the end of `ray.init` to the end of the
first execution, starts of the hosts included; *memory* is what all processes of Ray hold together (proportional set
size) beyond what they held right after `ray.init`. A *message* hands one order to an actor that answers with a report:
ours as hosts do it, raw as a call of Ray with the same order and report.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
from rig import folders, kind_of, median, parser, show, us
from tree_office import WIDE, staff, workforce_on

from agents.employee.tree import everyone
from agents.workforce.ray import Blueprint, Hosts, RayWorkforce
from agents.workforce.ray.actors import RayLine, connect, disconnect
from agents.workforce.ray.messages import Address, Stretch, pack_answer, pack_order, unpack_answer, unpack_order
from agents.workforce.ray.vigil import Vigil
from contracts import ExecutionId, ExecutionRequest, OrderId, OrderState, PlanDefinition, StatusReport, TaskOrder
from runtime.clock import SystemClock
from runtime.engine.source import Source
from runtime.executor import Executor
from runtime.executor.holder import this_process
from runtime.garbage import pass_over_the_start
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings, LedgerSettings, RaySettings

EMPLOYEES = [node.id for node in everyone(staff().head)]
BELOW = {node.id: [below.id for below in node.manages] for node in everyone(staff().head)}


async def bare_asyncio(name: str = "head") -> int:
    """Count a tree of tasks."""
    return 1 + sum(await asyncio.gather(*(asyncio.create_task(bare_asyncio(below)) for below in BELOW[name])))


class Bare:
    """An actor that holds a share of the tree and stores nothing."""

    def seat(self, seats: dict[str, int], actors: list[Any], me: int) -> None:
        self._seats, self._actors, self._me = seats, actors, me

    async def work(self, name: str) -> int:
        return 1 + sum(await asyncio.gather(*(self._hand_on(below) for below in BELOW[name])))

    async def _hand_on(self, name: str) -> int:
        seat = self._seats[name]
        if seat == self._me:
            return await asyncio.create_task(self.work(name))
        return int(await self._actors[seat].work.remote(name))


class Echo:
    """An actor that answers an order with a report at once."""

    async def deliver(self, message: bytes) -> bytes:
        _, order, _ = unpack_order(message)
        return pack_answer(_report(order), Source(uses=("work",)))

    async def raw(self, stretch: Stretch, order: TaskOrder) -> StatusReport:
        return _report(order)


def _report(order: TaskOrder) -> StatusReport:
    return StatusReport(order_id=order.order_id, state=OrderState.DONE, output={"result": "x" * 77})


async def execution(executor: Executor) -> None:
    """Run the tree once, from the request to the end."""
    request = ExecutionRequest(organisation="bench", goal="Work.", skill="whole", requested_by="bench")
    asked = await executor.submit(request, "0" * 64, Path("/nowhere"))
    report = await executor.run(asked.execution_id)
    assert report.state is OrderState.DONE, report.error


async def timed(work: Callable[[], Awaitable[Any]], runs: int) -> float:
    """Return the median time of one run, s."""
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - begun)
    return median(taken)


async def took(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Return the time of one run, and the processor time of this process in it, s."""
    begun, cpu = time.perf_counter(), time.process_time()
    await work()
    return time.perf_counter() - begun, time.process_time() - cpu


def executor_on(store: SqlStore, body: Any) -> Executor:
    return Executor(store, SystemClock(), ExecutorSettings(), body, this_process())


async def measure_inline(folder: Path, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder, prefix="tree-") as home:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        executor = executor_on(store, workforce_on(store))
        await timed(lambda: execution(executor), 3)  # what is loaded when first used is loaded
        gc.collect()
        pass_over_the_start()
        taken: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": []}
        for _ in range(runs):  # by turns, so that what else the machine does weighs on both
            taken["bare"] += [await took(bare_asyncio) for _ in range(3)]
            taken["ours"].append(await took(lambda: execution(executor)))
        await store.close()
    ours, bare = median([wall for wall, _ in taken["ours"]]), median([wall for wall, _ in taken["bare"]])
    best, bare_best = min(taken["ours"])[0], min(taken["bare"])[0]
    cpu, bare_cpu = median([cpu for _, cpu in taken["ours"]]), median([cpu for _, cpu in taken["bare"]])
    return {
        "engine": "inline", "ours_us": us(ours), "bare_us": us(bare), "ratio": round(ours / bare, 1),
        "processor_us": us(cpu), "bare_processor_us": us(bare_cpu), "processor_ratio": round(cpu / bare_cpu, 1),
        "best_us": us(best), "bare_best_us": us(bare_best), "best_ratio": round(best / bare_best, 1),
    }  # fmt: skip


async def measure_ray(folder: Path, runs: int) -> dict[str, Any]:
    import ray

    settings = RaySettings()
    begun = time.perf_counter()
    await asyncio.to_thread(connect, settings)
    started = time.perf_counter() - begun
    try:
        base = _held()
        with tempfile.TemporaryDirectory(dir=folder, prefix="tree-") as home:
            begun = time.perf_counter()
            store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
            blueprint = Blueprint("tree_office:open_office", home, {})
            hosts = Hosts(blueprint, settings, store.leases, look_s=5.0, embedded=True)
            executor = executor_on(store, RayWorkforce(workforce_on(store), hosts))
            await execution(executor)
            first = time.perf_counter() - begun
            await timed(lambda: execution(executor), 3)
            count = len(await hosts.ready())
            held = _held() - base
            bare_tree = await _bare_tree(ray, count)
            await timed(bare_tree, 3)
            gc.collect()
            pass_over_the_start()
            bare = [await timed(bare_tree, runs)]
            ours = await timed(lambda: execution(executor), runs)
            bare.append(await timed(bare_tree, runs))
            messages = await measure_message(store, ray, runs * 20)
            await hosts.close()
            await store.close()
    finally:
        await asyncio.to_thread(disconnect)
    return {
        "engine": "ray", "hosts": count, "ours_us": us(ours), "bare_us": us(median(bare)),
        "ratio": round(ours / median(bare), 2), "first_answer_s": round(first, 2), "memory_mb": round(held / 1e6),
        "ray_init_s": round(started, 2), **messages,
    }  # fmt: skip


async def _bare_tree(ray: Any, count: int) -> Callable[[], Awaitable[Any]]:
    seats = {name: number * count // len(EMPLOYEES) for number, name in enumerate(EMPLOYEES)}
    actors = [ray.remote(Bare).options(num_cpus=0, max_concurrency=1000).remote() for _ in range(count)]
    await asyncio.gather(*(actor.seat.remote(seats, actors, me) for me, actor in enumerate(actors)))

    async def run() -> None:
        assert await actors[0].work.remote("head") == len(EMPLOYEES) == 1 + WIDE + WIDE * WIDE

    return run


async def measure_message(store: SqlStore, ray: Any, count: int) -> dict[str, Any]:
    actor = ray.remote(Echo).options(name="echo", num_cpus=0, max_concurrency=1000).remote()
    line, vigil = RayLine(Blueprint("", "", {})), Vigil(store.leases, look_s=5.0)
    lease = await store.leases.acquire("host/bench", "bench", 3_600)
    assert lease is not None
    address = Address("echo", lease)
    stretch = Stretch(ExecutionId.new(), lease, False, False, (address, address))
    order = TaskOrder(
        order_id=OrderId.new(), execution_id=stretch.execution_id, organisation="bench", employee="worker",
        issued_by="bench", objective="Work.", requested_by="bench", trace_id="0" * 32,
        plan=PlanDefinition.model_validate({"steps": [{"id": "do", "use": "work"}]}),
    )  # fmt: skip

    async def ours() -> None:
        message = pack_order(stretch, order, new=True)
        unpack_answer(await vigil.wait(address, line.call("echo", "deliver", message)))

    async def raw() -> None:
        await actor.raw.remote(stretch, order)

    taken: dict[str, list[float]] = {"ours": [], "raw": []}
    for _ in range(4):  # by turns, so that what else the machine does weighs on both
        taken["ours"].append(await timed(ours, count // 4))
        taken["raw"].append(await timed(raw, count // 4))
    vigil.close()
    mine, theirs = median(taken["ours"][1:]), median(taken["raw"][1:])
    return {"message_us": us(mine), "raw_message_us": us(theirs), "message_ratio": round(mine / theirs, 2)}


def _held() -> int:
    """Return what all processes below this one hold, each page counted once, bytes."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
    return total


KINDS = {"inline": measure_inline, "ray": measure_ray}


async def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    folder = folders(arguments.folder)[0]
    found = [await KINDS[engine](folder, arguments.runs) for engine in arguments.engine or KINDS]
    return {"bench": "tree", "on": kind_of(folder), "found": found}


def lines(found: Mapping[str, Any]) -> list[str]:
    told = [found["on"]]
    for run in found["found"]:
        told.append(
            f"  {run['engine']:>6}: {run['ours_us'] / 1000:.1f} ms, bare {run['bare_us'] / 1000:.2f} ms, "
            f"ratio {run['ratio']}"
            + (
                f", of processor {run['processor_ratio']}, fastest {run['best_ratio']}"
                if "processor_ratio" in run
                else ""
            )
        )
        if run["engine"] == "ray":
            told.append(
                f"          first answer {run['first_answer_s']} s after ray.init ({run['ray_init_s']} s), "
                f"{run['memory_mb']} MB over Ray's own, a message {run['message_us']} µs, raw "
                f"{run['raw_message_us']} µs, ratio {run['message_ratio']}"
            )
    return told


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=20, help="runs of each tree; the median is reported")
    made.add_argument("--engine", action="append", choices=list(KINDS), help="only this one; may be given twice")
    arguments = made.parse_args()
    show(asyncio.run(measurements(arguments)), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
