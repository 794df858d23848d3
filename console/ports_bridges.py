"""What a face needs of the product for bridges that are other programs and speak HTTP."""

from __future__ import annotations

from typing import Protocol

from contracts import (
    BridgeAsk,
    BridgeBeat,
    BridgeEntry,
    BridgeIntent,
    BridgeNext,
    BridgeNode,
    BridgeOrders,
    BridgeReceipt,
    BridgeTaken,
    BridgeVerdict,
    BridgeWord,
    NodeId,
    OrderId,
)
from governance.access import Principal


class Bridges(Protocol):
    """The part of `Application` that bridges use; any process on the ledger answers.

    Raises, all of it:
        PermissionRefused: whoever asks is no bridge.
        BridgeReplaced: the session is over.
        StaleBridge: what is said about an order comes from somebody who does not hold its slot.
    """

    async def register_bridge(self, asking: Principal, node: BridgeNode) -> BridgeEntry:
        """Enter a node, or enter it anew; raise BeyondRights for a label that is not the token's."""
        ...

    async def bridge_beats(self, asking: Principal, node_id: NodeId, said: BridgeBeat) -> BridgeOrders:
        """Take a sign of life in, and return the orders that the bridge did not name, once there is one."""
        ...

    async def bridge_leaves(self, asking: Principal, node_id: NodeId, session: str) -> None:
        """Let a session end; its orders go on elsewhere."""
        ...

    async def next_call(self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeAsk) -> BridgeNext:
        """Return the next call of an order, its end, or nothing within the time that the bridge waits."""
        ...

    async def bridge_intends(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeIntent
    ) -> BridgeVerdict:  # fmt: skip
        """Say whether an effect may happen now; raise CallSettled when it is not to be carried out."""
        ...

    async def take_receipt(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeReceipt
    ) -> BridgeTaken:  # fmt: skip
        """Keep how a call ended; raise CallSettled when nobody gave leave for it."""
        ...

    async def give_order_back(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeWord
    ) -> None:  # fmt: skip
        """Take an order back from a bridge; it goes on elsewhere, or there again."""
        ...
