"""Whatever dies on Ray, and whenever: the finished stays, the rest goes on elsewhere, nothing is done twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psutil
import pytest

from cluster import Closed
from tests.crash.lives import ROOT, result_without
from tests.crash.person import Told, ask_desk
from tests.engines.holding_office import hold_at, until_held
from tests.engines.house import LEASE_S, SITS, House, pid_of
from tests.engines.two_nodes import NODE, TwoNodes

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300), pytest.mark.thorough]
WITHIN = timedelta(seconds=LEASE_S + 5)
"""In which something of the execution has to be stored again after a death."""
PHASES = {
    "plan": ("{who}:order:order.accepted", False),
    "dispatch": ("{who}:order:step.dispatched({step})", True),
    "execution": ("payer:order:effect.intended(do)", True),
    "report": ("{who}:order:order.finished", False),
}
"""Where a death comes: an event, and whether its commit was made. The execution is that of who pays."""
STEPS = {"chief": "settle", "head-of-desk": "act[0]"}
BRIDGE = {
    "plan": ("payer:order:order.accepted", False),
    "dispatch": ("payer:order:order.accepted", True),
    "execution": ("payer:order:effect.intended(do)", True),
    "report": ("payer:order:order.finished", False),
}
"""The same in a bridge, which has one order in its hands and gives none to others."""


@dataclass
class Recovered:
    """How long it took after each death until something of the execution was stored again."""

    took: dict[str, timedelta] = field(default_factory=dict)

    def is_in_time(self) -> None:
        """Tell the times, and fail when one is too long."""
        told = ", ".join(f"{phase} {took.total_seconds():.1f} s" for phase, took in self.took.items())
        print(f"recovered: {told}")
        assert max(self.took.values()) <= WITHIN, told


@asynccontextmanager
async def held(house: House, label: str, *, after: bool) -> AsyncIterator[tuple[str, asyncio.Future[Told], int]]:
    """Begin a month and give its key, who closes it, and the process that is held on the way."""
    hold_at(house.home, label, after=after)
    key = house.begin()
    closing = asyncio.ensure_future(house.close_the_month(key))
    async with asyncio.timeout(100):
        holding = asyncio.ensure_future(until_held(house.home))
        await asyncio.wait({closing, holding}, return_when=asyncio.FIRST_COMPLETED)
        assert holding.done(), f"nobody came to {label}"
    yield key, closing, holding.result()


async def labels(house: House, victim: str | None, phase: str) -> tuple[str, bool]:
    """Return where to hold, so that a host on the node comes there; of any node where that is None."""
    hosts, where = await house.hosts(2), (await house.pool()).where
    who = "head-of-desk"
    if victim is not None:
        who = next(who for who, number in SITS.items() if where[hosts[number]] == victim)
    label, after = PHASES[phase]
    return label.format(who=who, step=STEPS[who]), after


async def test_a_process_of_a_host_is_killed(two_nodes: TwoNodes) -> None:
    recovered = Recovered()
    for phase in PHASES:
        label, after = await labels(two_nodes.house, None, phase)
        async with held(two_nodes.house, label, after=after) as (key, closing, pid):

            async def kill(pid: int = pid) -> None:
                os.kill(pid, signal.SIGKILL)

            recovered.took[phase] = await two_nodes.after(key, closing, kill)
    recovered.is_in_time()


async def test_an_actor_is_killed(two_nodes: TwoNodes) -> None:
    import ray

    recovered = Recovered()
    for phase in PHASES:
        label, after = await labels(two_nodes.house, None, phase)
        async with held(two_nodes.house, label, after=after) as (key, closing, pid):
            (actor,) = [host.actor for host in await two_nodes.house.hosts() if pid_of(host) == pid]

            async def kill(actor: str = actor) -> None:
                ray.kill(ray.get_actor(actor))

            recovered.took[phase] = await two_nodes.after(key, closing, kill)
    recovered.is_in_time()


async def test_a_whole_node_is_killed(two_nodes: TwoNodes) -> None:
    recovered = Recovered()
    for phase in PHASES:
        label, after = await labels(two_nodes.house, two_nodes.second.node_id, phase)
        async with held(two_nodes.house, label, after=after) as (key, closing, _):

            async def kill() -> None:
                await asyncio.to_thread(_lose, two_nodes.ray, two_nodes.second)

            recovered.took[phase] = await two_nodes.after(key, closing, kill)
        two_nodes.second = two_nodes.ray.add_node(**NODE)  # Ray takes only the main thread
    recovered.is_in_time()


def _lose(ray_cluster: Any, node: Any) -> None:
    """Kill everything that runs on a node: left alone, its workers live on until they miss their raylet."""
    (raylet,) = node.all_processes["raylet"]
    for process in psutil.Process(raylet.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    ray_cluster.remove_node(node, allow_graceful=False)


async def test_a_bridge_is_killed_with_an_order_in_its_hands(two_nodes: TwoNodes) -> None:
    house, recovered = two_nodes.house, Recovered()
    bridges = house.resources.bridges
    assert bridges is not None
    for phase, (label, after) in BRIDGE.items():
        hosts, where = await house.hosts(2), (await house.pool()).where
        node = where[hosts[SITS["head-of-desk"]]]
        await house.set_closed(node, Closed.CORDONED)  # or the host of whoever gives the order carries it out itself
        async with held(house, label, after=after) as (key, closing, pid):
            assert pid in (await bridges.pids()).values()
            await house.set_closed(node, Closed.OPEN)

            async def kill(pid: int = pid) -> None:
                os.kill(pid, signal.SIGKILL)

            recovered.took[phase] = await two_nodes.after(key, closing, kill)
    recovered.is_in_time()


async def test_the_driver_is_killed(two_nodes: TwoNodes) -> None:
    house, recovered = two_nodes.house, Recovered()
    for phase in PHASES:
        label, after = await labels(house, None, phase)
        hold_at(house.home, label, after=after)
        key = house.begin()
        words = ("-m", "tests.engines.driver", str(house.home), str(house.folder), str(house.desk), key)
        driver = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=ROOT, env={**os.environ, "RAY_ADDRESS": two_nodes.ray.address},
        )  # fmt: skip
        async with asyncio.timeout(100):
            held_by = await until_held(house.home)
        recovered.took[phase] = await two_nodes.after(key, None, lambda driver=driver: _killed(driver))
        assert not psutil.pid_exists(held_by) or psutil.Process(held_by).status() == psutil.STATUS_ZOMBIE
    recovered.is_in_time()


async def _killed(process: asyncio.subprocess.Process) -> None:
    process.kill()
    await process.wait()


async def test_a_host_that_stands_still_loses_its_orders_and_is_gone_when_it_wakes(two_nodes: TwoNodes) -> None:
    house = two_nodes.house
    await house.hosts(2)
    key = house.begin()
    ask_desk(house.desk, "/hold", {"path": "/payments"})
    closing = asyncio.ensure_future(house.close_the_month(key))
    await asyncio.to_thread(ask_desk, house.desk, "/await/payments")
    frozen = await house.processes()
    for process in frozen:
        process.suspend()
    ask_desk(house.desk, "/hold", {"path": ""})

    told = await closing
    for process in frozen:
        with suppress(psutil.NoSuchProcess):  # nobody waited until it woke: whoever started it has ended it
            process.resume()
    gone, alive = await asyncio.to_thread(psutil.wait_procs, frozen, 30)

    assert told.state == "done", told.result["error"]
    assert house.times("/payments") == 1
    assert result_without(told) == result_without(two_nodes.expected, told.doubts)
    assert (len(gone), alive) == (len(frozen), [])
