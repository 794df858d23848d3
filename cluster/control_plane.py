"""Who gets which slot. Nothing is counted: a slot is taken while a live lease says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from cluster.errors import NoNodeFits, NoSlotFree
from cluster.slot import HeldSlot, Node
from contracts import SlotAllocation, TaskOrder
from runtime.ledger.port import Lease, Leases
from runtime.settings import SlotSettings

_LOOK_S = 0.1
"""How often a waiting order looks whether another process gave a slot back; those of this process tell it at once."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full the nodes are now."""

    slots: int
    taken: int


class ControlPlane:
    """Lends the slots of its nodes to orders; who came first gets one first."""

    def __init__(self, leases: Leases, nodes: Sequence[Node], settings: SlotSettings) -> None:
        self._leases = leases
        self._nodes = tuple(nodes)
        self._settings = settings
        self._holder = f"control-plane/{uuid4()}"
        self._turn = asyncio.Lock()  # wakes its waiters in the order they came
        self._given_back = asyncio.Event()

    async def allocate(self, order: TaskOrder) -> HeldSlot:
        """Return a slot for the order; wait for one when all are taken.

        Raises:
            NoNodeFits: no node has all labels of the order.
            NoSlotFree: none became free in the time the settings allow.
        """
        fitting = [node for node in self._nodes if set(order.labels) <= set(node.labels)]
        if not fitting:
            offered = sorted({label for node in self._nodes for label in node.labels})
            raise NoNodeFits(
                f"No node has the labels {', '.join(order.labels)} that the order needs. "
                f"The nodes have: {', '.join(offered) or 'none'}.",
                needed=list(order.labels), offered=list(offered),
            )  # fmt: skip
        try:
            async with asyncio.timeout(self._settings.allocate_s), self._turn:
                return await self._first_free(fitting, order)
        except TimeoutError:
            slots = sum(node.slots for node in fitting)
            raise NoSlotFree(
                f"All {slots} slots were taken for {self._settings.allocate_s:g} s. Try again later, or raise the "
                "setting slot.count.",
                slots=slots, waited_s=self._settings.allocate_s,
            ) from None  # fmt: skip

    async def renew(self, held: HeldSlot) -> HeldSlot:
        """Prolong the lease; raise StaleWriter when the slot belongs to somebody else now."""
        lease = await self._leases.renew(held.lease, self._settings.lease_s)
        allocation = held.allocation.model_copy(update={"lease_expires_at": lease.expires_at})
        return HeldSlot(held.index, allocation, lease)

    async def release(self, held: HeldSlot) -> None:
        """Give the slot back; does nothing when it was lost."""
        await self._leases.release(held.lease)
        self._given_back.set()

    async def occupancy(self) -> Occupancy:
        """Return how many slots there are and how many are taken."""
        names = {node.lease_name(index) for node in self._nodes for index in range(node.slots)}
        live = await self._leases.live("slot/")
        return Occupancy(len(names), sum(lease.name in names for lease in live))

    async def _first_free(self, nodes: Sequence[Node], order: TaskOrder) -> HeldSlot:
        while True:
            self._given_back.clear()
            if (held := await self._try(nodes, order)) is not None:
                return held
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._given_back.wait()
            except TimeoutError:
                continue

    async def _try(self, nodes: Sequence[Node], order: TaskOrder) -> HeldSlot | None:
        """Return a slot of the least loaded node, None when all are taken."""
        holder = f"{self._holder}/{order.order_id}"
        taken = {lease.name for lease in await self._leases.live("slot/")}
        free = {node: [i for i in range(node.slots) if node.lease_name(i) not in taken] for node in nodes}
        for node in sorted(nodes, key=lambda node: len(free[node]), reverse=True):
            for index in free[node]:
                lease = await self._leases.acquire(node.lease_name(index), holder, self._settings.lease_s)
                if lease is not None:
                    return _new(node, index, order, lease)
        return None


def _new(node: Node, index: int, order: TaskOrder, lease: Lease) -> HeldSlot:
    allocation = SlotAllocation(
        slot_id=node.slot_id(index),
        node_id=node.node_id,
        order_id=order.order_id,
        labels=node.labels,
        driver=node.driver,
        cannot_enforce=node.cannot_enforce,
        lease_expires_at=lease.expires_at,
        fence=lease.fence,
    )
    return HeldSlot(index, allocation, lease)
