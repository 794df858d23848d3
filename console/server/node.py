"""A process that only offers a node: it carries out orders, and works on no execution of its own."""

from __future__ import annotations

import asyncio
import os

from cluster import Bridge, ControlPlane, Node
from console.pinned import Organisations
from console.resources import Resources
from console.server.errors import NodeOffered
from console.server.same_ledger import SameLedger
from console.server.signals import on_signals
from console.server.told import NodeUp, Stopped, Stopping, Tell
from runtime.clock import Clock
from runtime.ledger import embedded_file
from runtime.settings.load import Settings


async def serve_node(settings: Settings, tell: Tell, *, clock: Clock | None = None) -> None:
    """Offer the slots of this machine to every process on the ledger, until a signal ends it.

    SIGTERM or Ctrl-C lets steps in progress end for `executor.drain_s`, and their orders go on at other nodes; the
    second one stops them at once.

    Raises:
        LedgerUnavailable, SchemaMismatch: the ledger cannot be used as it is.
        NodeOffered: another process offers the node of this folder, with other slots or labels.
        LedgerReplaced: another ledger stands where it was, while the node served.
    """
    resources = Resources(settings, clock)
    try:
        organisations = await resources.organisations()
        await _require_same_offer(organisations.plane)
        await _serve(organisations, resources, tell)
    finally:
        await resources.close()
    tell(Stopped())


async def _require_same_offer(plane: ControlPlane) -> None:
    """Return when nobody else serves the node, or offers just this: processes of one folder share one node's slots."""
    own = plane.node
    assert own is not None, "the plane of a process that serves has a node"
    for standing in await plane.nodes():
        there = standing.node
        if there.node_id != own.node_id or not standing.runners:
            continue
        if (there.slots, set(there.labels)) != (own.slots, set(own.labels)):
            raise NodeOffered(
                f"Another process offers {own.node_id} with {_offer(there)}; this one would with {_offer(own)}. "
                "Processes of one folder share one node and its slots. Give this one a node of its own by "
                "`--folder DIR`, offer the same, or stop the other.",
                node=own.node_id, slots=there.slots, labels=[*there.labels],
            )  # fmt: skip


def _offer(node: Node) -> str:
    slots = "one slot" if node.slots == 1 else f"{node.slots} slots"
    return f"{slots} and the labels {', '.join(node.labels)}" if node.labels else f"{slots} and no labels"


async def _serve(organisations: Organisations, resources: Resources, tell: Tell) -> None:
    bridge, node, drain_s = organisations.bridge, organisations.plane.node, resources.settings.executor.drain_s
    stopping, at_once = asyncio.Event(), asyncio.Event()

    def stop() -> None:
        if stopping.is_set():
            at_once.set()
        else:
            tell(Stopping(len(bridge.working_on), drain_s))
        stopping.set()

    def entered() -> None:
        assert node is not None, "the plane of a process that serves has a node"
        tell(NodeUp(str(node.node_id), node.slots, node.labels, node.driver, node.cannot_enforce, os.getpid()))

    store, settings = await resources.store(), resources.settings
    same = SameLedger(store, embedded_file(settings.ledger, settings.home))
    with on_signals(stop):
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(same.watch(settings.executor.sweep_s))
            serving = tasks.create_task(bridge.serve(entered))
            await give_back_when(stopping, bridge, at_once, drain_s)
            serving.cancel()
            watching.cancel()


async def give_back_when(stopping: asyncio.Event, bridge: Bridge, at_once: asyncio.Event, within_s: float) -> None:
    """Once it is to stop, let the steps of others' orders end and give the orders back; `at_once` ends the wait."""
    await stopping.wait()
    giving = asyncio.create_task(bridge.drain(within_s))
    hurry = asyncio.create_task(at_once.wait())
    await asyncio.wait({giving, hurry}, return_when=asyncio.FIRST_COMPLETED)
    giving.cancel()
    hurry.cancel()
