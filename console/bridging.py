"""What the product does for bridges that speak HTTP."""

from __future__ import annotations

from cluster.foreign import Foreign, Rights
from console.resources import Resources
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
    TokenId,
)
from governance.access import Principal
from runtime.errors import PermissionRefused


class Bridging:
    """The parts of the port `Application` that bridges use. Whoever is no bridge is refused."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def register_bridge(self, asking: Principal, node: BridgeNode) -> BridgeEntry:
        """Enter a node; see the port."""
        return await (await self._foreign()).gateway.register(_rights(asking), node)

    async def bridge_beats(self, asking: Principal, node_id: NodeId, said: BridgeBeat) -> BridgeOrders:
        """Take a sign of life in; see the port."""
        return await (await self._foreign()).gateway.beat(_rights(asking), node_id, said)

    async def bridge_leaves(self, asking: Principal, node_id: NodeId, session: str) -> None:
        """Let a bridge leave; see the port."""
        await (await self._foreign()).gateway.leave(_rights(asking), node_id, session)

    async def next_call(self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeAsk) -> BridgeNext:
        """Return what is next for an order; see the port."""
        return await (await self._foreign()).gateway.next(_rights(asking), node_id, order_id, said)

    async def bridge_intends(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeIntent
    ) -> BridgeVerdict:  # fmt: skip
        """Say whether an effect may happen; see the port."""
        return await (await self._foreign()).gateway.intent(_rights(asking), node_id, order_id, said)

    async def take_receipt(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeReceipt
    ) -> BridgeTaken:  # fmt: skip
        """Keep how a call ended; see the port."""
        return await (await self._foreign()).gateway.receipt(_rights(asking), node_id, order_id, said)

    async def give_order_back(
        self, asking: Principal, node_id: NodeId, order_id: OrderId, said: BridgeWord
    ) -> None:  # fmt: skip
        """Take an order back from a bridge; see the port."""
        await (await self._foreign()).gateway.give_back(_rights(asking), node_id, order_id, said)

    async def _foreign(self) -> Foreign:
        return (await self._resources.organisations()).foreign


def _rights(asking: Principal) -> Rights:
    """Return what the bridge may be; raise PermissionRefused for whoever is none."""
    if asking.bridge is None:
        raise PermissionRefused(
            f"The token {asking.name} is no bridge's. `silicon tokens create NAME --bridge --for ORG` makes one.",
            token=asking.name,
        )
    return Rights(TokenId(asking.id).ulid, asking.bridge.organisations, asking.bridge.labels)
