"""A node, its slots, and a slot while an order holds it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ulid import ULID

from contracts import NodeId, SlotAllocation, SlotId
from runtime.ledger.port import Lease
from runtime.settings import SlotSettings
from runtime.settings.home import make_home


@dataclass(frozen=True, slots=True)
class Node:
    """One machine, as the control plane sees it."""

    node_id: NodeId
    slots: int
    labels: tuple[str, ...] = ()
    driver: str = "rlimits"
    cannot_enforce: tuple[str, ...] = ()

    def lease_name(self, index: int) -> str:
        """Name of the lease of one slot."""
        return f"slot/{self.node_id.ulid}/{index}"

    def slot_id(self, index: int) -> SlotId:
        """Id of one slot; it follows from the node, so that every process calls it the same."""
        return SlotId(f"slot/{ULID(sha256(f'{self.node_id}/{index}'.encode()).digest()[:16])}")


@dataclass(frozen=True, slots=True)
class HeldSlot:
    """A slot that an order holds: what the order is told, and the lease behind it."""

    index: int
    allocation: SlotAllocation
    lease: Lease


def this_node(home: Path, settings: SlotSettings, *, labels: tuple[str, ...], cannot_enforce: tuple[str, ...]) -> Node:
    """Return the node of this machine; its id is made once and kept in `HOME/node`, so processes share its slots."""
    count = settings.count or os.cpu_count() or 1
    return Node(_node_id(home), count, labels=labels, cannot_enforce=cannot_enforce)


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
