"""The one way into the cluster."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from cluster.bridge import Bridge
from cluster.control_plane import ControlPlane
from cluster.engines import EngineFactory
from cluster.errors import NoNodeFits, NoSlotFree, QueueFull, SlotLost
from cluster.slot import HeldSlot
from contracts import OrderState, StatusReport, TaskOrder
from runtime.errors import LedgerUnavailable, SiliconError
from runtime.ledger.port import Lease


class Gateway:
    """Takes the orders of one stretch of an execution, has them done in slots, returns their reports.

    Args:
        engine_for: makes the engine of an order that is carried out in this process.
        leases: of the execution: an order in the queue belongs to whoever holds them.
        leaving: whether orders with other processes go on when this one stops waiting, because it only moves away.
    """

    def __init__(
        self, control_plane: ControlPlane, bridge: Bridge, engine_for: EngineFactory, *, leases: Sequence[Lease] = (),
        leaving: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._control_plane = control_plane
        self._bridge = bridge
        self._engine_for = engine_for
        self._leases = leases
        self._leaving = leaving

    async def submit(self, order: TaskOrder) -> StatusReport:
        """Return how the order ended or stands. Submitted again, it goes on where it stood.

        While nobody waits and a slot of this process's node is free, it is done here at once; otherwise it takes its
        place in the queue, and whatever node has the slot carries it out. One that loses its slot goes on in another,
        three times at most. That no slot was to be had, or that slots were lost, is a failed report: nothing was
        finished twice. An order with an effect in doubt does not fail for want of a slot before it is known whether
        that happened: it is looked up, or the order waits for whoever is asked.
        """
        report = await self._carried_out(order)
        if report.state is not OrderState.FAILED:
            return report
        return await self._bridge.settle_doubts(order, self._engine_for) or report

    async def _carried_out(self, order: TaskOrder) -> StatusReport:
        try:
            held, losses = await self._control_plane.take(order), 0
            if held is not None:
                try:
                    return await self._in_a_slot(order, held)
                except SlotLost:
                    losses = 1
            return await self._bridge.submit(
                order, self._engine_for, leases=self._leases, losses=losses, leaving=self._leaving
            )
        except (NoNodeFits, NoSlotFree, QueueFull) as error:
            return _failed(order, error)

    async def _in_a_slot(self, order: TaskOrder, held: HeldSlot) -> StatusReport:
        try:
            return await self._bridge.run(order, held, self._engine_for)
        finally:
            with contextlib.suppress(LedgerUnavailable):  # then the lease runs out by itself
                await asyncio.shield(self._bridge.release(held))


def _failed(order: TaskOrder, error: SiliconError) -> StatusReport:
    return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
