"""The hosts of one process that works on executions: started when they are needed, started anew when they are lost."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from agents.workforce.errors import HostLost, HostNotReady, LedgerNotShared, RayUnavailable
from agents.workforce.ray import actors
from agents.workforce.ray.actors import Blueprint, RayLine, RayNode
from agents.workforce.ray.messages import Address
from agents.workforce.ray.post import Apart
from agents.workforce.ray.vigil import Vigil
from contracts import ExecutionId
from runtime.errors import SiliconError
from runtime.ledger.port import Leases
from runtime.settings.groups import RaySettings

_CLOSE_S = 5.0
"""How long hosts get to give back what they have."""

_log = logging.getLogger(__name__)


class Hosts:
    """Host actors on every node of Ray, as many as the settings say."""

    def __init__(
        self, blueprint: Blueprint, settings: RaySettings, leases: Leases, *, look_s: float, embedded: bool,
        settle: Callable[[Sequence[RayNode]], None] = lambda nodes: None,
    ) -> None:  # fmt: skip
        """Take the settings over; nothing is started.

        Args:
            look_s: how often it is looked whether hosts still live.
            embedded: whether the ledger is a file of this machine.
            settle: told which nodes there are, whenever that was looked at.
        """
        self.line = RayLine(blueprint)
        self.vigil = Vigil(leases, look_s=look_s)
        self.apart = Apart(self.line)
        self._settings = settings
        self._embedded = embedded
        self._settle = settle
        self._hosts: dict[Address, str] = {}
        """Where each host is, and its node."""
        self._filling = asyncio.Lock()
        self._connected = self._leave_ray = False
        self._again: asyncio.Task[None] | None = None

    async def ready(self) -> tuple[Address, ...]:
        """Return the hosts that live; with the first call, and whenever none is left, they are started.

        Raises:
            RayMissing, RayUnavailable: there is no Ray.
            LedgerNotShared: Ray spans several machines, and the ledger does not.
            SiliconError: no host opens, and why.
        """
        if not self._living():
            await self._fill()
        elif self.vigil.lost & self._hosts.keys() and (self._again is None or self._again.done()):
            self._again = asyncio.create_task(self._fill_again(), name="starts lost hosts anew")
        return self._living()

    async def drain(self) -> frozenset[ExecutionId]:
        """Let no step begin any more on any host; return the executions with a step in progress."""
        busy: set[ExecutionId] = set()
        for answer in await self._call_all("drain", b""):
            busy |= pickle.loads(answer)  # noqa: S301 - from another process of ours
        return frozenset(busy)

    async def leave(self, execution_id: ExecutionId) -> None:
        """Have all hosts stop what is left of a stretch."""
        await self._call_all("leave", str(execution_id).encode())

    async def close(self) -> None:
        """End all hosts, and Ray where it was started here."""
        self.vigil.close()
        if self._again is not None:
            self._again.cancel()
            await asyncio.gather(self._again, return_exceptions=True)
        if not self._connected:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._call_all("close", b"")
        for address in self._hosts:
            self.line.kill(address.actor)
        if self._leave_ray:
            await asyncio.to_thread(actors.disconnect)

    def _living(self) -> tuple[Address, ...]:
        return tuple(address for address in self._hosts if address not in self.vigil.lost)

    async def _call_all(self, method: str, message: bytes) -> Iterable[bytes]:
        calls = [self.vigil.wait(host, self.line.call(host.actor, method, message)) for host in self._living()]
        answers = await asyncio.gather(*map(asyncio.ensure_future, calls), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, HostLost):
                raise answer
        return [answer for answer in answers if isinstance(answer, bytes)]

    async def _fill(self) -> None:
        """Start what is missing on every node; raise only when there is no host at all afterwards."""
        async with self._filling:
            if self._living() and not self.vigil.lost & self._hosts.keys():
                return
            if not self._connected:
                self._leave_ray = await asyncio.to_thread(actors.connect, self._settings)
                self._connected = True
            for address in self.vigil.lost & self._hosts.keys():
                del self._hosts[address]
                self.line.kill(address.actor)
            nodes = await asyncio.to_thread(actors.nodes)
            self._refuse_unshared(nodes)
            self.line.several = len(nodes) > 1
            self._settle(nodes)
            there = Counter(self._hosts.values())
            missing = [node for node in nodes for _ in range(self._wanted(node) - there[node.node_id])]
            results = await asyncio.gather(*(self._start(node) for node in missing), return_exceptions=True)
            faults = [result for result in results if isinstance(result, BaseException)]
            for fault in faults:
                _log.warning("a host did not start: %s", fault)
            if not self._living():
                known = next((fault for fault in faults if isinstance(fault, SiliconError)), None)
                raise known or RayUnavailable("Ray has no node that lives, so that employees have nowhere to sit.")

    async def _start(self, node: RayNode) -> None:
        address = await self.line.start(actors.new_name(), node)
        self._hosts[address] = node.node_id

    async def _fill_again(self) -> None:
        try:
            await self._fill()
        except (HostNotReady, SiliconError) as error:
            _log.warning("lost hosts could not be started anew: %s", error)

    def _wanted(self, node: RayNode) -> int:
        return self._settings.hosts_per_node or node.cores

    def _refuse_unshared(self, nodes: Sequence[RayNode]) -> None:
        machines = {node.machine for node in nodes}
        if self._embedded and len(machines) > 1:
            raise LedgerNotShared(
                f"Ray spans {len(machines)} machines, and the ledger is an SQLite file that only one of them should "
                "write. Set ledger.url to a server database, the same on every machine.",
                machines=len(machines),
            )
