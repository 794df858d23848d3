"""What a face needs of messages on their way to people; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from contracts import DeliveryId, Name
from governance.channels import Delivery


class Deliveries(Protocol):
    """Messages by webhook and e-mail: those on their way, and those that were given up."""

    async def deliveries(
        self, *, organisation: Name | None = None, all_: bool = False, limit: int
    ) -> Sequence[Delivery]:
        """Return deliveries that wait or were given up, newest first; with `all_` those that ended too."""
        ...

    async def delivery(self, delivery_id: DeliveryId) -> Delivery:
        """Return one delivery; raise NotFound when there is none."""
        ...

    async def retry_delivery(self, delivery_id: DeliveryId, *, by: str) -> Delivery:
        """Let one that was given up be tried anew, with all its tries, by the next server that looks.

        Raises:
            NotFound: there is none.
            IllegalTransition: it was not given up.
        """
        ...

    async def drop_delivery(self, delivery_id: DeliveryId, *, reason: str, by: str) -> Delivery:
        """Let nobody get it any more; raises as `retry_delivery`, and for one that arrived."""
        ...
