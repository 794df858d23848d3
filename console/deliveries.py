"""Messages on their way to people, as faces show them and people see to them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from console.resources import Resources
from contracts import DeliveryId, Name
from governance.channels import Delivery
from governance.channels.delivery import DEAD, DROPPED, OPEN_TYPES, RETRIED, fold_delivery, happened
from governance.errors import IllegalTransition
from runtime.canonical import clean_text
from runtime.errors import NotFound


class Deliveries:
    """The port `Deliveries`."""

    _resources: Resources

    async def deliveries(
        self, *, organisation: Name | None = None, all_: bool = False, limit: int
    ) -> Sequence[Delivery]:
        """Return deliveries, newest first; see the port."""
        ledger = (await self._resources.store()).ledger
        if all_:
            streams = await ledger.newest_streams(DeliveryId.KIND, organisation=organisation, limit=limit)
        else:
            types = (*OPEN_TYPES, DEAD)
            there = await ledger.streams(DeliveryId.KIND, organisation=organisation, last_types=types)
            streams = there[::-1][:limit]
        found: list[Delivery] = []
        for stream in streams:
            with suppress(NotFound, IllegalTransition):  # erased in part since
                found.append(fold_delivery(await ledger.read(stream)))
        return found

    async def delivery(self, delivery_id: DeliveryId) -> Delivery:
        """Return one delivery."""
        return fold_delivery(await (await self._resources.store()).ledger.read(delivery_id))

    async def retry_delivery(self, delivery_id: DeliveryId, *, by: str) -> Delivery:
        """Let one that was given up be tried anew."""
        next_at = self._resources.clock.now().isoformat()
        return await self._change(delivery_id, RETRIED, by=clean_text(by), next_at=next_at)

    async def drop_delivery(self, delivery_id: DeliveryId, *, reason: str, by: str) -> Delivery:
        """Let nobody get it any more."""
        return await self._change(delivery_id, DROPPED, by=clean_text(by), why=clean_text(reason))

    async def _change(self, delivery_id: DeliveryId, type_: str, **facts: str) -> Delivery:
        ledger = (await self._resources.store()).ledger
        await ledger.append(happened(await self.delivery(delivery_id), type_, **facts))
        return await self.delivery(delivery_id)
