"""A node, its slots, and a slot while an order holds it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ulid import ULID

from contracts import NodeId, OrderId, SlotAllocation, SlotId
from runtime.ledger.port import Lease
from runtime.settings import SlotSettings
from runtime.settings.home import make_home

FOREIGN = "bridge"
"""Driver of the slots of a bridge that speaks HTTP: how they are isolated is its own affair."""

_BLOCKS, _SLOTS_IN_A_BLOCK = 140_000, 1_024
"""Together with the first user id of a slot they stay below 2**31, which some programs take for the end."""


@dataclass(frozen=True, slots=True)
class Node:
    """One machine, as the control plane sees it."""

    node_id: NodeId
    slots: int
    labels: tuple[str, ...] = ()
    driver: str = "rlimits"
    cannot_enforce: tuple[str, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether its bridge is another program, which speaks HTTP; no program of ours runs there."""
        return self.driver == FOREIGN

    def lease_name(self, index: int) -> str:
        """Name of the lease of one slot."""
        return lease_name(self.node_id, index)

    def warm_name(self, index: int) -> str:
        """Name of the lease that says who keeps a slot ready for its next order."""
        return f"warm/{self.node_id.ulid}/{index}"

    def user_of(self, index: int) -> int:
        """Return the number of a slot's own user among those of all nodes, so that nodes of one machine share none.

        It follows from the node's id: two of a machine's nodes have the same ones once in 140,000 times.
        """
        block = int.from_bytes(sha256(self.node_id.encode()).digest()[:8], "big") % _BLOCKS + 1
        return block * _SLOTS_IN_A_BLOCK + index

    def slot_id(self, index: int) -> SlotId:
        """Id of one slot; it follows from the node, so that every process calls it the same."""
        return slot_id(self.node_id, index)


@dataclass(frozen=True, slots=True)
class HeldSlot:
    """A slot that an order holds: what the order is told, and the lease behind it."""

    index: int
    allocation: SlotAllocation
    lease: Lease
    follows: int = -1
    """Fence of the slot's last lease for somebody else; 0 where there was none, -1 where that is not known."""


def slot_id(node_id: NodeId, index: int) -> SlotId:
    """Return the id of one slot."""
    return SlotId(f"slot/{ULID(sha256(f'{node_id}/{index}'.encode()).digest()[:16])}")


def lease_name(node_id: NodeId, index: int) -> str:
    """Return the name of the lease of one slot."""
    return f"slot/{node_id.ulid}/{index}"


def allocation_of(node: Node, index: int, order_id: OrderId, lease: Lease) -> SlotAllocation:
    """Return what an order is told of the slot it got."""
    return SlotAllocation(
        slot_id=node.slot_id(index),
        node_id=node.node_id,
        order_id=order_id,
        labels=node.labels,
        driver=node.driver,
        cannot_enforce=node.cannot_enforce,
        lease_expires_at=lease.expires_at,
        fence=lease.fence,
    )


def this_node(
    home: Path,
    settings: SlotSettings,
    *,
    labels: tuple[str, ...],
    driver: str = "rlimits",
    cannot_enforce: tuple[str, ...],
) -> Node:
    """Return the node of this machine; its id is made once and kept in `HOME/node`, so processes share its slots."""
    count = settings.count or os.cpu_count() or 1
    return Node(_node_id(home), count, labels=labels, driver=driver, cannot_enforce=cannot_enforce)


def _node_id(home: Path) -> NodeId:
    file = home / "node"
    make_home(home)
    if not file.exists():
        fresh = home / f"node.{os.getpid()}.new"
        fresh.write_text(NodeId.new(), encoding="utf-8")
        try:
            os.link(fresh, file)  # only the first of several processes can
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return NodeId(file.read_text(encoding="utf-8").strip())
