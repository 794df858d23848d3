"""What a face needs of the evidence of orders; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from contracts import ExecutionId, OrderId

if TYPE_CHECKING:
    from cluster.evidence import OrderEvidence, Shown  # with the engine behind it, which no command waits for in vain


class Evidence(Protocol):
    """What was done and seen, read from the ledger alone: no slot, node or organisation folder is needed."""

    async def evidence(self, order_id: OrderId) -> OrderEvidence:
        """Re-hash all evidence of an order and return it with every fault; raise NotFound when there is no such order.

        Stored bytes are read, items are compared with the order's streams, the seal is worked out anew.
        """
        ...

    async def evidence_item(self, order_id: OrderId, number: int) -> Shown:
        """Return the bytes of one item, by its number in `evidence`.

        Raises:
            NotFound: there is no such order or item, or only the hash of it was kept.
            BlobDamaged: what is stored was changed.
        """
        ...

    async def orders_of(self, execution_id: ExecutionId | None) -> Sequence[OrderId]:
        """Return the orders of an execution, or all there are, in the order in which they began."""
        ...
