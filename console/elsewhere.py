"""Engines for orders that another process submitted: from the ledger alone, whoever works on their execution."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cluster import EngineFactory
from contracts import OrderId, TaskOrder
from runtime.draining import Draining, Steps
from runtime.errors import BusinessRefusal
from runtime.executor import ExecutionRun, ExecutionView
from runtime.executor.lookout import Lookout
from runtime.executor.register import Register
from runtime.executor.requests import Requests

if TYPE_CHECKING:
    from console.pinned import Organisations


class ExecutionOver(BusinessRefusal):
    """The execution of an order has ended, so that nothing of the order is done any more."""

    code = "EXECUTION_OVER"


class EnginesElsewhere:
    """The port `cluster.Engines` over the organisations that executions pinned."""

    def __init__(self, organisations: Organisations) -> None:
        self._organisations = organisations
        self._register = Register(organisations.store)
        self._lookout = Lookout(organisations.store.ledger)
        self._in_hand: dict[OrderId, tuple[Draining, Steps]] = {}

    @asynccontextmanager
    async def for_order(self, order: TaskOrder) -> AsyncIterator[EngineFactory]:
        """Give what makes the engine of the order; see the port.

        Raises:
            ExecutionOver: nobody waits for the order any more.
            NotFound: the execution or its organisation is not here.
        """
        view = await self._register.view(order.execution_id)
        if view.report is not None:
            raise ExecutionOver(f"{view.execution_id} has ended, so {order.order_id} is not done.")
        requests = Requests(self._organisations.store.ledger, self._lookout, view)
        draining = Draining()
        steps = Steps(draining)
        mine = self._in_hand[order.order_id] = draining, steps
        heeding = asyncio.create_task(requests.heed(), name=f"requests about {order.order_id}")
        try:
            async with self._organisations.using(view.organisation_sha256, view.home) as wired:
                run = _run(view, requests, steps)
                yield lambda leases, still_held: wired.engine_in_slot(run, leases, still_held)
        finally:
            heeding.cancel()
            await asyncio.gather(heeding, return_exceptions=True)
            if self._in_hand.get(order.order_id) is mine:  # the order may be here again, in another slot
                del self._in_hand[order.order_id]

    def hold(self, order_id: OrderId) -> bool:
        """Let no further step of the order begin here; return whether none is in progress any more."""
        known = self._in_hand.get(order_id)
        if known is None:
            return False
        draining, steps = known
        draining.begin()
        return steps.parked


def _run(view: ExecutionView, requests: Requests, steps: Steps) -> ExecutionRun:
    """Return the stretch of the execution that this one order is; its slot's lease is all that it holds."""
    return ExecutionRun.of(
        view,
        reopened=view.reopened,
        leases=(),
        cancelled=lambda: requests.cancelled,
        cancelled_branches=lambda: requests.cancelled_branches,
        steps=steps,
    )
