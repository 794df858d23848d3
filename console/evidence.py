"""The evidence of orders, as the faces show and prove it."""

from __future__ import annotations

from collections.abc import Sequence

from cluster.evidence import OrderEvidence, Shown, bytes_of, examine
from console.resources import Resources
from console.seeing import Seeing
from contracts import ExecutionId, OrderId

_PAGE = 1_000


class Evidence:
    """The port `Evidence`."""

    _resources: Resources
    _seeing: Seeing

    async def evidence(self, order_id: OrderId) -> OrderEvidence:
        """Re-hash all evidence of an order."""
        await self._require_seen(order_id)
        return await examine(await self._resources.store(), order_id)

    async def evidence_item(self, order_id: OrderId, number: int) -> Shown:
        """Return the bytes of one item."""
        await self._require_seen(order_id)
        return await bytes_of(await self._resources.store(), order_id, number)

    async def orders_of(self, execution_id: ExecutionId | None) -> Sequence[OrderId]:
        """Return the orders of an execution, or all there are."""
        ledger = (await self._resources.store()).ledger
        if execution_id is None:
            return [OrderId(stream) for stream in await ledger.streams(OrderId.KIND)]
        found: dict[OrderId, None] = {}
        after = 0
        while page := await ledger.read_execution(execution_id, after=after, limit=_PAGE):
            after = page[-1].position
            begun = (event.subject for event in page if event.type == "order.accepted")
            found.update(dict.fromkeys(map(OrderId, begun)))
        return list(found)

    async def _require_seen(self, order_id: OrderId) -> None:
        """Return when the system user may see the order's execution, or the order has none."""
        if self._resources.onlooker is None:
            return
        for event in await (await self._resources.store()).ledger.read_newest(order_id):
            if event.execution_id is not None:
                await self._seeing.require(ExecutionId(event.execution_id))
