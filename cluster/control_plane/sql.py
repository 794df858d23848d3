"""The control plane in SQL: each change is one job of the ledger's writer, each look a read beside it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from cluster.control_plane import standing
from cluster.control_plane.closing import closing_of
from cluster.control_plane.faults import no_node_fits, no_slot_free, queue_full
from cluster.control_plane.in_line import waits
from cluster.control_plane.jobs import Entry, Jobs
from cluster.control_plane.matcher import Wants, fits
from cluster.control_plane.port import Accepted, Closer, Entered, NodeStanding, Occupancy, OrderStanding, Seen, Wait
from cluster.control_plane.registry import Registry
from cluster.control_plane.round import Rules
from cluster.control_plane.rows import order_to
from cluster.control_plane.stages import Closed, Stage
from cluster.control_plane.statements import Statements
from cluster.slot import HeldSlot, Node
from contracts import ExecutionId, NodeId, OrderId, StatusReport, TaskOrder
from runtime.clock import Clock
from runtime.errors import SiliconError
from runtime.executor.holder import this_process
from runtime.ledger.port import Lease
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction
from runtime.settings import ClusterSettings, SlotSettings

T = TypeVar("T")


class SqlControlPlane:
    """The port `ControlPlane` on the database of a ledger."""

    def __init__(
        self, store: SqlStore, node: Node | None, clock: Clock, *, slot: SlotSettings, cluster: ClusterSettings
    ) -> None:
        self.node = node
        self.runner = f"{this_process()}/{secrets.token_hex(4)}"
        self._store = store
        self._clock = clock
        self._lease_s = slot.lease_s
        self._most_queued = cluster.queue
        self._ready: frozenset[int] = frozenset()
        self._rules = Rules(slot.lease_s, cluster.lost_s, cluster.accept_s)
        sql = Statements(store.database.engine.dialect)
        self._registry = Registry(sql)
        self._jobs = Jobs(sql, self._rules, me=self.runner, node=node, most_queued=cluster.queue, clock=clock)

    async def beat(self, *, for_all: bool, pulled_at: datetime | None) -> None:
        """Say that this process lives; see the port."""
        if self.node is None:
            raise ValueError("a process without a node serves none")
        node, now = self.node, self._clock.now()
        await self._write(
            lambda tx: self._registry.beat(tx, self.runner, node, now, for_all=for_all, pulled_at=pulled_at)
        )

    async def leave(self) -> None:
        """Say that this process serves no more; see the port."""
        await self._write(lambda tx: self._registry.leave(tx, self.runner, self.node))

    async def take(self, order: TaskOrder) -> HeldSlot | None:
        """Return a free slot of this process's own node when nobody waits for one; see the port."""
        node = self.node
        if node is None or not fits(node, self._wants(order)):
            return None
        taking = asyncio.ensure_future(self._write(lambda tx: self._jobs.take(tx, order, node, self._ready)))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:  # cancelled while the lease was on its way: nobody would give it back
            held = await taking
            if held is not None:
                await self._store.leases.release(held.lease)
            raise

    async def enqueue(self, order: TaskOrder, *, leases: Sequence[Lease] = (), losses: int = 0) -> Entered:
        """Put an order into the queue, or take over its place there; see the port."""
        wants = self._wants(order)
        data = order_to(order, wants.home)
        return await self._write(lambda tx: self._jobs.enter(tx, Entry(order, wants, data, losses), leases))

    async def look(self) -> Seen:
        """Give back what stands still, give out what is free, and return what concerns this process."""
        found = await self._read(lambda connection, now: standing.glance(connection, now, self._rules, self.runner))
        if not found.needs_writing:
            return Seen(moving=found.moving)
        return await self._write(lambda tx: self._jobs.see(tx, found.moving))

    async def finish(self, order_id: OrderId, held: HeldSlot, report: StatusReport) -> Sequence[Accepted]:
        """Keep the report of an order, give its slot back, and return what comes next here."""
        return await self._write(lambda tx: self._jobs.finish(tx, order_id, held, report))

    async def lose(self, order_id: OrderId, held: HeldSlot) -> Sequence[Accepted]:
        """Queue an order again whose slot was lost; see the port."""
        return await self._write(lambda tx: self._jobs.lose(tx, order_id, held))

    async def give_back(self, order_id: OrderId, held: HeldSlot) -> None:
        """Queue an order again, for another process."""
        await self._write(lambda tx: self._jobs.give_back(tx, order_id, held))

    async def withdraw(self, order_id: OrderId, *, elsewhere_goes_on: bool = False) -> None:
        """Take an order that this process submitted out of the queue; see the port."""
        await self._write(lambda tx: self._jobs.withdraw(tx, order_id, elsewhere_goes_on=elsewhere_goes_on))

    async def stand_still(self, orders: Sequence[TaskOrder], for_s: float) -> Mapping[OrderId, SiliconError]:
        """Return why some of these orders, which wait, will not get a slot soon; see the port."""
        nodes = await self.nodes()
        handed_out = await self._read(lambda connection, now: standing.handed_out(connection))
        moved = {node: since for _, (node, since) in sorted(handed_out.items(), key=lambda item: item[1][1])}
        still = {}
        for order in orders:
            if order.order_id not in handed_out:
                error = self._why_still(self._wants(order), nodes, moved, for_s)
                if error is not None:
                    still[order.order_id] = error
        return still

    def _why_still(
        self, wants: Wants, nodes: Sequence[NodeStanding], moved: Mapping[NodeId, datetime], for_s: float
    ) -> SiliconError | None:
        """Return why an order gets no slot; `moved` tells when a node took its newest order."""
        fitting = [each.node for each in nodes if not each.lost and fits(each.node, wants)]
        if not fitting:
            living = [each.node for each in nodes if not each.lost]
            return no_node_fits(living, wants, [each.node for each in nodes if each.lost and fits(each.node, wants)])
        last = max((moved[node.node_id] for node in fitting if node.node_id in moved), default=None)
        if last is not None and (self._clock.now() - last).total_seconds() < for_s:
            return None
        return no_slot_free(sum(node.slots for node in fitting), for_s)

    async def renew(self, held: HeldSlot) -> HeldSlot:
        """Prolong the lease; raise StaleWriter when the slot belongs to somebody else now."""
        lease = await self._store.leases.renew(held.lease, self._lease_s)
        allocation = held.allocation.model_copy(update={"lease_expires_at": lease.expires_at})
        return replace(held, allocation=allocation, lease=lease)

    async def warm(self, ready: Collection[int]) -> Mapping[int, int]:
        """Say which slots of the own node this process keeps ready; return those that may be, see the port."""
        node = self.node
        if node is None:
            raise ValueError("a process without a node keeps no slot ready")
        self._ready = frozenset(ready)
        return await self._write(lambda tx: self._jobs.warm(tx, node, self._ready))

    async def release(self, held: HeldSlot) -> Sequence[Accepted]:
        """Give back a slot that was taken without the queue, and return what comes next here."""
        return await self._write(lambda tx: self._jobs.release(tx, held))

    async def close(self, node_id: NodeId, closed: Closed, *, by: Closer) -> NodeStanding:
        """Open or close a node, and return it; see the port."""
        now = self._clock.now()
        await self._write(lambda tx: self._registry.close(tx, node_id, closed, by, now))
        return next(each for each in await self.nodes() if each.node.node_id == node_id)

    async def nodes(self) -> Sequence[NodeStanding]:
        """Return the nodes there are, and those that were there lately."""
        found = await self._read(lambda connection, now: standing.nodes(connection, now, self._rules, self.runner))
        closed = [str(each.node.node_id) for each in found if each.closed is not Closed.OPEN]
        if not closed:
            return found
        told = {event.subject: closing_of(event) for event in await self._store.ledger.read_newest(*closed)}
        return [replace(each, closing=told.get(each.node.node_id)) for each in found]

    async def orders(self, limit: int | None = None, *, organisation: str | None = None) -> Sequence[OrderStanding]:
        """Return the orders that wait or hold a slot; see the port."""
        return await self._read(lambda connection, now: standing.orders(connection, now, limit, organisation))

    async def waits(self, executions: Collection[ExecutionId]) -> Sequence[Wait]:
        """Return the orders of these executions that wait, and for what; see the port."""
        wanted = [str(each) for each in executions]
        return await self._read(lambda connection, now: waits(connection, now, self._rules, wanted))

    async def counts(self) -> tuple[Mapping[Stage, int], datetime | None]:
        """Return how many orders of the queue stand at each stage; see the port."""
        return await self._read(lambda connection, now: standing.counts(connection))

    async def waiting(self) -> int:
        """Return how many orders wait for a slot."""
        return await self._read(lambda connection, now: standing.waiting(connection))

    async def require_room(self) -> None:
        """Return when the queue takes orders in; raise QueueFull when it does not."""
        waiting = await self.waiting()
        if waiting >= self._most_queued:
            raise queue_full(waiting, self._most_queued)

    async def occupancy(self) -> Occupancy:
        """Return how many slots there are and how many are taken."""
        living = [each for each in await self.nodes() if not each.lost]
        return Occupancy(sum(each.node.slots for each in living), sum(each.taken for each in living))

    def _wants(self, order: TaskOrder) -> Wants:
        return Wants(order.labels, order.needs, None if self.node is None else self.node.node_id)

    async def _write(self, job: Callable[[Transaction], T]) -> T:
        return await self._store.writer.do(job, small=True)

    async def _read(self, work: Callable[[Connection, datetime], T]) -> T:
        now = self._clock.now()
        return await self._store.reader.in_thread(lambda connection: work(connection, now))
