"""The counting house on Ray, where everything may die: its head in one host, the head of its desk in another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from agents.workforce.ray import Hosts
from agents.workforce.ray.messages import Address
from cluster import Closed
from cluster.control_plane import Closer
from console.application import SiliconApplication
from contracts import Event, NodeId
from runtime.errors import ExecutionBusy, NotFound, StaleWriter
from runtime.settings.load import load
from tests.crash.dying_store import Death
from tests.crash.lives import copy_organisation
from tests.crash.person import Person, Task, Told, ask_desk
from tests.engines.holding_office import HoldingResources

LEASE_S = 1.0
SETTINGS: dict[str, Any] = {
    "workforce.engine": "ray",
    "ray.hosts_per_node": 1,
    "executor.lease_s": LEASE_S,
    "executor.renew_s": 0.25,
    "slot.lease_s": LEASE_S,
    "slot.count": 4,
    "cluster.beat_s": 0.5,
    "cluster.pull_s": 0.5,
    "engine.settle_s": 0.0,
    "ledger.synchronous": "NORMAL",
}
_IDLE = "    - {id: idle-1}\n    - {id: idle-2}\n    - {id: idle-3}\n    - id: head-of-desk\n"
"""Employees with nothing to do, who fill the first of two hosts."""
SITS = {"chief": 0, "head-of-desk": 1}
"""In which of two hosts whoever plans sits."""


@dataclass
class House:
    """The counting house with hosts on Ray, and a service that counts what it receives."""

    home: Path
    folder: Path
    desk: int
    resources: HoldingResources
    _keys: Iterator[int] = field(default_factory=count)

    async def close_the_month(self, key: str | None = None) -> Told:
        """Have the month closed, whatever dies meanwhile, and however slow this process is for its leases."""
        task = Task(str(self.home), "", str(self.folder), self.desk, key or self.begin())
        while True:
            try:
                return await Person(self.resources, task, Death()).see_it_through()
            except (ExecutionBusy, StaleWriter):
                await asyncio.sleep(LEASE_S / 10)  # somebody else had it, whose lease runs out

    def begin(self) -> str:
        """Return a new key; the service begins a new log."""
        ask_desk(self.desk, "/begin", {})
        return f"key-{next(self._keys)}"

    async def pool(self) -> Hosts:
        """Return the hosts of this process, all of which are there."""
        hosts = (await self.resources.organisations()).hosts
        assert hosts is not None
        return hosts

    async def hosts(self, least: int = 1) -> list[Address]:
        """Return the hosts that live, once there are so many."""
        pool = await self.pool()
        async with asyncio.timeout(60):
            while len(await pool.ready()) < least:  # noqa: ASYNC110 - they come up in other processes
                await asyncio.sleep(0.05)
        return list(await pool.ready())

    async def processes(self) -> list[psutil.Process]:
        """Return the processes of the hosts, which stand in their leases."""
        return [psutil.Process(pid_of(host)) for host in await self.hosts()]

    async def set_closed(self, node: str, closed: Closed) -> None:
        """Cordon a node of Ray, or open it."""
        plane = (await self.resources.organisations()).plane
        async with asyncio.timeout(60):
            while True:
                with suppress(FileNotFoundError, NotFound):  # its bridge comes up in another process
                    await plane.close(self.node_id(node), closed, by=Closer("ann", "cli"))
                    return
                await asyncio.sleep(0.05)

    def node_id(self, node: str) -> NodeId:
        """Return the node of the cluster that a node of Ray is."""
        return NodeId((self.home / "nodes" / node[:16] / "node").read_text().strip())

    def times(self, path: str) -> int:
        """Return how often the service was called there."""
        return sum(call["path"] == path for call in ask_desk(self.desk, "/log"))

    async def told_after(self, moment: datetime) -> list[Event]:
        """Return the events that were stored after a moment."""
        ledger = (await self.resources.store()).ledger
        return [event for event in await ledger.read_all(after=0, limit=1_000_000) if event.time > moment]

    async def is_whole(self) -> bool:
        """Whether the audit finds nothing."""
        return not (await SiliconApplication(self.resources).verify()).faults


def pid_of(host: Address) -> int:
    """Return the process of a host."""
    return int(host.lease.holder.split("/")[2])


@asynccontextmanager
async def open_house(folder: Path, desk: int, **settings: Any) -> AsyncIterator[House]:
    """Open the house in a folder."""
    copy_organisation(folder / "organisation", desk)
    org = folder / "organisation" / "org.yaml"
    org.write_text(org.read_text().replace("    - id: head-of-desk\n", _IDLE))
    home = folder / "home"
    home.mkdir()
    resources = HoldingResources(load({"home": str(home), **SETTINGS, **settings}))
    try:
        yield House(home, folder / "organisation", desk, resources)
    finally:
        await resources.close()
