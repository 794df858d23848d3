"""The hosts of one process that works on executions: started when they are needed, started anew when they are lost."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from agents.workforce.errors import HostLost, HostNotReady, LedgerNotShared, RayUnavailable
from agents.workforce.ray import actors, starting
from agents.workforce.ray.actors import Blueprint, RayLine, RayNode
from agents.workforce.ray.messages import Address
from agents.workforce.ray.post import Apart
from agents.workforce.ray.reach import address_given
from agents.workforce.ray.starting import HostsAwaited, started
from agents.workforce.ray.vigil import Vigil
from contracts import ExecutionId
from runtime.errors import SiliconError
from runtime.ledger.port import Leases
from runtime.settings.groups import RaySettings

_CLOSE_S = 5.0
"""How long hosts get to give back what they have."""
_LOOK_S = 5.0
"""How often it is looked which nodes there are."""
_OTHERS_S = 5.0
"""How long the first host that is there waits for the others which were started with it."""

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
            settle: told on which nodes a bridge has to be, whenever that was looked at: on every one, unless there
                never was more than one, whose hosts share its slots.
        """
        self.line = RayLine(blueprint)
        self.vigil = Vigil(leases, look_s=look_s)
        self.apart = Apart(self.line)
        self._settings = settings
        self._embedded = embedded
        self._settle = settle
        self._hosts: dict[Address, str] = {}
        """Where each host is, and its node."""
        self._starting: dict[asyncio.Task[None], str] = {}
        """Hosts that do not answer yet, each with its node."""
        self._refused: dict[str, tuple[float, float]] = {}
        """Node → when a host is started there again (time of the event loop), and the wait that led to it."""
        self._fault: BaseException | None = None
        """Why the last host that did not start did not."""
        self._looking = asyncio.Lock()
        self._wake = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._coming: asyncio.Task[None] | None = None
        self._connected = self._leave_ray = False
        self.awaited: HostsAwaited | None = None
        """That no host started so far; None while there is one, or nobody needs any."""

    @property
    def where(self) -> Mapping[Address, str]:
        """Each host that was started and is not known to be lost, with the id of its node."""
        return {address: self._hosts[address] for address in self._living()}

    @property
    def of_this_process(self) -> bool:
        """Whether they stand on a Ray that this process started, which has little of its environment."""
        return self._leave_ray and not address_given()

    async def reach(self) -> None:
        """Connect to the Ray of RAY_ADDRESS, so that one that cannot be used is told before anything is recorded.

        Without RAY_ADDRESS nothing happens: a Ray of this process's own is started when it is needed.

        Raises:
            RayMissing, RayUnavailable: there is no Ray.
        """
        if address_given():
            async with self._looking:
                await self._connect()

    async def ready(self) -> tuple[Address, ...]:
        """Return the hosts that live; with the first call, and whenever none is left, they are started.

        Raises:
            RayMissing, RayUnavailable: there is no Ray.
            LedgerNotShared: Ray spans several machines, and the ledger does not.
            HostNotReady: no host opens, however often it was tried (`ray.start_tries`).
            SiliconError: no host can open, and why.
        """
        if not self._living():
            await self._first()
        elif self.vigil.lost & self._hosts.keys():
            self._wake.set()
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
        tasks = [*self._starting, *(each for each in (self._coming, self._following) if each is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
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

    async def _first(self) -> None:
        """Return once there is a host; whoever needs one waits for the same."""
        if self._coming is None or self._coming.done():
            tries = self._settings.start_tries
            self._coming = asyncio.create_task(started(self._come_up, tries, told=self._tell), name="starts hosts")
        await asyncio.shield(self._coming)

    async def _come_up(self) -> None:
        """Return once there is a host, and those that were started with it had time to come up."""
        self._fault = None
        await self._look()
        while self._starting and not self._living():
            await asyncio.wait(self._starting, return_when=asyncio.FIRST_COMPLETED)
        if self._starting:
            await asyncio.wait(self._starting, timeout=_OTHERS_S)
        if not self._living():
            if isinstance(self._fault, SiliconError):
                raise self._fault
            if self._fault is not None:
                raise HostNotReady(f"A host did not start: {self._fault}") from self._fault
            raise RayUnavailable("Ray has no node that lives, so that employees have nowhere to sit.")
        if self._following is None:
            self._following = asyncio.create_task(self._follow(), name="follows the nodes of Ray")

    def _tell(self, awaited: HostsAwaited | None) -> None:
        self.awaited = awaited

    async def _follow(self) -> None:
        """Start what is missing as nodes come and hosts go."""
        told = ""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._look()
                told = ""
            except SiliconError as error:
                if error.message != told:
                    _log.warning("the nodes of Ray are left as they are: %s", error)
                told = error.message
            except Exception:  # of Ray; the hosts that live go on
                _log.exception("the nodes of Ray could not be looked at")

    async def _look(self) -> None:
        """Begin to start what is missing on every node; raise when the nodes cannot be used together."""
        async with self._looking:
            await self._connect()
            for address in self.vigil.lost & self._hosts.keys():
                del self._hosts[address]
                self.line.kill(address.actor)
            nodes = await asyncio.to_thread(actors.nodes)
            self._refuse_unshared(nodes)
            self.line.several = self.line.several or len(nodes) > 1  # also once one is left, which goes on as it is
            self._settle(nodes if self.line.several else ())
            live = {node.node_id for node in nodes}
            for task in [task for task, node_id in self._starting.items() if node_id not in live]:
                task.cancel()
            there = Counter((*self._hosts.values(), *self._starting.values()))
            now = asyncio.get_running_loop().time()
            for node in nodes:
                if self._refused.get(node.node_id, (0.0, 0.0))[0] <= now or not self._living():
                    for _ in range(self._wanted(node) - there[node.node_id]):
                        self._begin(node)

    async def _connect(self) -> None:
        if not self._connected:
            self._leave_ray = await asyncio.to_thread(actors.connect, self._settings)
            self._connected = True

    def _begin(self, node: RayNode) -> None:
        task = asyncio.create_task(self._start(node), name=f"starts a host on {node.name}")
        self._starting[task] = node.node_id
        task.add_done_callback(self._starting.pop)

    async def _start(self, node: RayNode) -> None:
        try:
            address = await self.line.start(actors.new_name(), node)
        except Exception as error:
            _log.warning("a host did not start: %s", error)
            self._fault = error
            wait_s = min(self._refused.get(node.node_id, (0.0, starting.AGAIN_S / 2))[1] * 2, starting.AGAIN_MOST_S)
            self._refused[node.node_id] = asyncio.get_running_loop().time() + wait_s, wait_s
        else:
            self._hosts[address] = node.node_id
            self._refused.pop(node.node_id, None)

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
