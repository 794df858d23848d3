"""A resident bridge on each node of Ray: an actor pinned to it. Every call of Ray that the cluster makes is here."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from runtime.garbage import look_rarely

_AGAIN_S, _AGAIN_MOST_S = 1.0, 60.0
"""Wait before a bridge that ended is started anew on its node, doubled each time, up to the second."""

_log = logging.getLogger(__name__)


class Place(Protocol):
    """A node of Ray, as a node of the cluster."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def labels(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def cores(self) -> int: ...  # noqa: D102


class Residence(Protocol):
    """A bridge with what it works with, in the process of an actor."""

    async def serve(self) -> None:
        """Carry out what is assigned to the node, until cancelled."""
        ...


OpenResidence: TypeAlias = Callable[[Path, Mapping[str, Any], Place], Awaitable[Residence]]
"""Opens a bridge under the settings of a home folder and those that a command was given, as a node of that place."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the process of a bridge is made from."""

    wire: str
    """Import path, `module:function`, of an OpenResidence."""
    home: str
    given: Mapping[str, Any]


class BridgeActor:
    """The actor around one bridge."""

    def __init__(self, plan: Plan, place: Place) -> None:
        self._plan = plan
        self._place = place

    async def serve(self) -> None:
        """Be the resident of the node for as long as this process lives."""
        look_rarely()
        module, _, function = self._plan.wire.partition(":")
        open_residence: OpenResidence = getattr(import_module(module), function)
        residence = await open_residence(Path(self._plan.home), self._plan.given, self._place)
        await residence.serve()

    async def pid(self) -> int:
        """Return the process that it is."""
        return os.getpid()


class RayBridges:
    """The bridges of one process that works on executions, one on each node of Ray.

    A bridge that ends is started anew while its node lives. What it had in hand the queue gives to another node: it
    depends on nothing here.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._actors: dict[str, Any] = {}
        self._tending: dict[str, asyncio.Task[None]] = {}

    def settle(self, places: Mapping[str, Place]) -> None:
        """Have a bridge on each of these nodes (id of Ray → place), and on no other."""
        for node_id in [each for each in self._tending if each not in places]:
            self._tending.pop(node_id).cancel()
        for node_id, place in places.items():
            if node_id not in self._tending or self._tending[node_id].done():
                self._tending[node_id] = asyncio.create_task(self._tend(node_id, place), name=f"bridge of {place.name}")

    async def pids(self) -> dict[str, int]:
        """Return the processes of the bridges that live, by node."""
        from ray.exceptions import RayError

        found = {}
        for node_id, actor in tuple(self._actors.items()):
            with suppress(RayError):
                found[node_id] = int(await actor.pid.remote())
        return found

    async def close(self) -> None:
        """End all bridges; what they have in hand goes on elsewhere."""
        for task in self._tending.values():
            task.cancel()
        await asyncio.gather(*self._tending.values(), return_exceptions=True)

    async def _tend(self, node_id: str, place: Place) -> None:
        import ray
        from ray.exceptions import RayError
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        pinned = NodeAffinitySchedulingStrategy(node_id, soft=False)
        make = ray.remote(BridgeActor).options(num_cpus=0, max_concurrency=100, scheduling_strategy=pinned)
        loop, wait_s = asyncio.get_running_loop(), _AGAIN_S / 2
        try:
            while True:
                began = loop.time()
                self._actors[node_id] = make.remote(self._plan, place)
                serving = self._actors[node_id].serve
                try:
                    await serving.remote()
                except RayError as error:
                    _log.warning("the bridge of node %s ended: %s", place.name, str(error).splitlines()[0])
                wait_s = _AGAIN_S if loop.time() - began > _AGAIN_MOST_S else min(wait_s * 2, _AGAIN_MOST_S)
                await asyncio.sleep(wait_s)
                if not await asyncio.to_thread(_lives, node_id):
                    return
        finally:
            actor = self._actors.pop(node_id, None)
            if actor is not None:
                ray.kill(actor)


def _lives(node_id: str) -> bool:
    import ray

    return any(node["NodeID"] == node_id and node["Alive"] for node in ray.nodes())  # type: ignore[no-untyped-call]
