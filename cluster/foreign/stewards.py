"""Takes the orders of bridges that speak HTTP from step to step, in trusted processes of ours.

The steward of an order is the process that runs its step engine: the first one that hears of it, and whoever takes over
once that one is gone. All it does carries the lease of the order's slot, which lives as long as the bridge prolongs it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

from sqlalchemy import select

from cluster.control_plane import Closed, ControlPlane
from cluster.engines import EngineFactory, Engines
from cluster.evidence import with_evidence
from cluster.for_others import for_others
from cluster.foreign.board import Board
from cluster.foreign.calls import erase_stale
from cluster.foreign.held import Charge
from cluster.slot import HeldSlot
from contracts import OrderId, StatusReport
from runtime.errors import LedgerError, StaleWriter
from runtime.executor.holder import is_gone, this_process
from runtime.ledger.port import Lease
from runtime.ledger.schema import cluster_nodes

KIND = "steward"
"""First part of the names of their leases."""

_log = logging.getLogger(__name__)


class Stewards:
    """The orders of bridges that this process takes from step to step."""

    def __init__(self, board: Board, engines: Engines, plane: ControlPlane) -> None:
        self._board = board
        self._engines = engines
        self._plane = plane
        self._tasks: dict[tuple[OrderId, str, int], asyncio.Task[None]] = {}
        self._taking: set[tuple[OrderId, str, int]] = set()
        self._me = f"{this_process()}/{secrets.token_hex(4)}"
        self._closed = False

    async def see_to(self, charge: Charge) -> None:
        """Let the order go on, here unless another process that lives sees to it."""
        key = charge.order.order_id, charge.held.lease.name, charge.held.lease.fence
        if key in self._tasks or key in self._taking or self._closed:
            return
        self._taking.add(key)  # a bridge may say several words about an order at the same time
        try:
            lease = await self._take(charge.order.order_id)
            if lease is None:
                return
            await self.stop(charge.order.order_id)  # what was done in a slot that the order lost
        finally:
            self._taking.discard(key)
        task = self._tasks[key] = asyncio.create_task(
            self._attend(charge, lease), name=f"takes {charge.order.order_id} from step to step"
        )
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def stop(self, order_id: OrderId) -> None:
        """Stop what is done here for the order; the ledger has what was finished."""
        await _end([task for (each, *_), task in self._tasks.items() if each == order_id])

    async def close(self) -> None:
        """Leave every order to other processes; each goes on from its last finished step."""
        self._closed = True
        await _end(list(self._tasks.values()))

    async def _take(self, order_id: OrderId) -> Lease | None:
        """Return the lease of who sees to the order, when nobody else does."""
        leases, name = self._board.store.leases, f"{KIND}/{order_id.ulid}"
        for lease in await leases.live(name):
            if lease.name == name and is_gone(lease.holder):
                await leases.release(lease)
            elif lease.name == name and lease.holder != self._me:
                return None
        return await leases.acquire(name, self._me, self._board.slot.lease_s)

    async def _attend(self, charge: Charge, lease: Lease) -> None:
        """Carry the order out as long as the bridge holds its slot; nothing is raised."""
        order_id = charge.order.order_id
        work = asyncio.create_task(self._work(charge))
        keeping = asyncio.create_task(self._keep(charge, lease))
        try:
            await asyncio.wait({work, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
            else:
                _log.info("the bridge lost the slot of %s, which goes on elsewhere", order_id)
        except LedgerError as error:  # the lease of the slot runs out, and the order goes on where it stood
            _log.warning("%s is left to others: %s", order_id, error)
        except Exception:
            _log.exception("%s is left to others", order_id)
        finally:
            await _end([work, keeping])
            await asyncio.shield(self._let_go(order_id, lease))

    async def _work(self, charge: Charge) -> None:
        order, held = charge.order, charge.held

        async def carry_out(engine_for: EngineFactory) -> StatusReport:
            engine = engine_for((held.lease,), lambda: self._still_held(held))
            return await engine.run(order, allocation=held.allocation)

        report = await for_others(order, self._engines, carry_out)
        board = self._board
        report = await with_evidence(order, report, store=board.store, clock=board.clock, leases=(held.lease,))
        await self._plane.finish(order.order_id, held, report)
        board.ring()

    async def _still_held(self, held: HeldSlot) -> None:
        """Return when the slot's lease lives; only its bridge prolongs it."""
        if not await self._lives(held.lease):
            raise StaleWriter(f"{held.lease.holder} no longer holds {held.lease.name}.", name=held.lease.name)

    async def _lives(self, lease: Lease) -> bool:
        live = await self._board.store.leases.live(lease.name)
        return any((each.name, each.holder, each.fence) == (lease.name, lease.holder, lease.fence) for each in live)

    async def _keep(self, charge: Charge, lease: Lease) -> None:
        """Prolong the own lease; return once it or the slot's is lost."""
        every_s = min(self._board.slot.lease_s / 3, 1.0)
        leases, renew_in = self._board.store.leases, 0.0
        while True:
            await asyncio.sleep(every_s)
            try:
                if not await self._lives(charge.held.lease):
                    return
                if await self._drains(charge.held) and self._engines.hold(charge.order.order_id):
                    await self._plane.give_back(charge.order.order_id, charge.held)
                    return
                renew_in -= every_s
                if renew_in <= 0:
                    lease = await leases.renew(lease, self._board.slot.lease_s)
                    renew_in = self._board.slot.lease_s / 3
            except StaleWriter:
                return
            except LedgerError as error:
                _log.warning("%s: whether its slot is held cannot be told: %s", charge.order.order_id, error)

    async def _drains(self, held: HeldSlot) -> bool:
        """Whether an operator wants the orders of that node to go on elsewhere."""
        query = select(cluster_nodes.c.closed).where(cluster_nodes.c.node == held.allocation.node_id)
        rows = await self._board.store.reader.rows(query)
        return bool(rows) and rows[0][0] == Closed.DRAINING

    async def _let_go(self, order_id: OrderId, lease: Lease) -> None:
        try:
            await self._board.store.leases.release(lease)
        except LedgerError as error:
            _log.info("%s runs out by itself: %s", lease.name, error)
        try:
            await erase_stale(self._board, order_id)
        except LedgerError as error:
            _log.info("arguments of calls of %s stay for a day: %s", order_id, error)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
