"""Which order gets which slot: the queue, the nodes that serve it, and the matcher between them.

`stages`, `matcher` and `port` are pure. `sql` does the work; it is imported when a control plane is opened, because
SQLAlchemy takes 0.4 s to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.control_plane.port import (
    Accepted,
    Closer,
    ControlPlane,
    Entered,
    NodeStanding,
    Occupancy,
    OrderStanding,
    Seen,
    Wait,
    WaitFor,
)
from cluster.control_plane.stages import Closed, Stage
from cluster.slot import Node
from runtime.clock import Clock
from runtime.settings import ClusterSettings, SlotSettings

if TYPE_CHECKING:
    from runtime.ledger.store import SqlStore

__all__ = [
    "Accepted",
    "Closed",
    "Closer",
    "ControlPlane",
    "Entered",
    "NodeStanding",
    "Occupancy",
    "OrderStanding",
    "Seen",
    "Stage",
    "Wait",
    "WaitFor",
    "open_control_plane",
]


def open_control_plane(
    store: SqlStore, node: Node | None, clock: Clock, *, slot: SlotSettings, cluster: ClusterSettings
) -> ControlPlane:
    """Return the control plane of a ledger, as one process uses it; `node` is where it can carry orders out itself."""
    from cluster.control_plane.sql import SqlControlPlane

    return SqlControlPlane(store, node, clock, slot=slot, cluster=cluster)
