"""The one way into the cluster."""

from __future__ import annotations

import asyncio
import contextlib

from cluster.bridge import Bridge
from cluster.control_plane import ControlPlane
from cluster.errors import NoNodeFits, NoSlotFree, SlotLost
from contracts import OrderState, StatusReport, TaskOrder
from runtime.errors import LedgerUnavailable, SiliconError

_SLOTS_PER_ORDER = 3
"""Slots an order may lose, one after another, before that is reported."""


class Gateway:
    """Takes an order, has it done in a slot, returns the report."""

    def __init__(self, control_plane: ControlPlane, bridge: Bridge) -> None:
        self._control_plane = control_plane
        self._bridge = bridge

    async def submit(self, order: TaskOrder) -> StatusReport:
        """Return how the order ended or stands. Submitted again, it goes on where it stood.

        That no slot was to be had, or that slots were lost, is a failed report: nothing was finished twice.
        """
        for left in reversed(range(_SLOTS_PER_ORDER)):
            try:
                return await self._in_a_slot(order)
            except (NoNodeFits, NoSlotFree) as error:
                return _failed(order, error)
            except SlotLost as error:
                if not left:
                    return _failed(order, error)
        raise AssertionError("the last slot either gives a report or is lost")

    async def _in_a_slot(self, order: TaskOrder) -> StatusReport:
        held = await self._control_plane.allocate(order)
        try:
            return await self._bridge.run(order, held)
        finally:
            with contextlib.suppress(LedgerUnavailable):  # then the lease runs out by itself
                await asyncio.shield(self._control_plane.release(held))


def _failed(order: TaskOrder, error: SiliconError) -> StatusReport:
    return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
