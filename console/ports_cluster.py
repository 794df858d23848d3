"""What a face needs of the product about the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from console.views_cluster import ClusterNumbers, NodeRow, NodeState, OrderRow, SlotRow
from contracts import NodeId
from governance.access import Principal


class Cluster(Protocol):
    """The part of `Application` that shows and steers nodes, slots and the queue, through the ledger alone."""

    async def nodes(self) -> Sequence[NodeRow]:
        """Return the nodes there are, and for an hour those that were lost, by id."""
        ...

    async def slots(self) -> Sequence[SlotRow]:
        """Return every slot of every node that lives, by node and number, with the order that holds it."""
        ...

    async def cluster_orders(self, *, organisation: str | None = None, limit: int) -> Sequence[OrderRow]:
        """Return at most `limit` orders: those in slots, then those that wait, as they stand in line."""
        ...

    async def waiting_orders(self) -> int:
        """Return how many orders wait for a slot."""
        ...

    async def cluster_numbers(self) -> ClusterNumbers:
        """Return how the cluster stands, as numbers."""
        ...

    async def close_node(
        self, node_id: NodeId, state: NodeState, *, by: Principal | None = None, via: str = "cli"
    ) -> NodeRow:
        """Cordon, drain or open a node, and return how it stands then.

        A cordoned node takes no new orders. On a draining one the orders of others go on elsewhere, each from its next
        step on. Both hold until the node is opened again, also when its processes are started anew.

        Args:
            by: whoever asks from outside, which takes an administrator: a node serves all organisations. None is
                whoever has the ledger in their hands anyway.
            via: from where, for the record, which is an event of the node's own stream.

        Raises:
            NotFound: there is no such node.
            PermissionRefused: whoever asks is no administrator.
        """
        ...

    async def require_room(self) -> None:
        """Return when the queue takes orders in; raise QueueFull when so many wait that it does not."""
        ...
