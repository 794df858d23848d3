"""Bridges that are other programs and speak only HTTP and JSON: their nodes, their orders, their calls.

`gateway.py` answers them, whichever process they ask; `stewards.py` runs the step engine of their orders in a process
of ours; `calls.py` lays single calls before them. `docs/cluster.md` has the protocol.

What works is imported when it is opened, because SQLAlchemy takes 0.4 s to import.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.engines import Engines
from cluster.foreign.rights import Rights
from runtime.capabilities.bridged import BridgeCalls
from runtime.clock import Clock
from runtime.settings import ClusterSettings, SlotSettings

if TYPE_CHECKING:
    from cluster.foreign.gateway import BridgeGateway
    from runtime.ledger.store import SqlStore

__all__ = ["Foreign", "Rights", "open_foreign"]


@dataclass(frozen=True, slots=True)
class Foreign:
    """The part of one process in the work of bridges that speak HTTP."""

    gateway: BridgeGateway
    """Answers them."""
    calls: BridgeCalls
    """Lays calls before them, for the engines of their orders."""


def open_foreign(
    store: SqlStore, engines: Engines, clock: Clock, *, slot: SlotSettings, cluster: ClusterSettings
) -> Foreign:
    """Return the part of this process; both sides of it share what they wait for."""
    from cluster.foreign.board import Board
    from cluster.foreign.calls import SqlBridgeCalls
    from cluster.foreign.gateway import BridgeGateway

    board = Board(store, clock, slot=slot, cluster=cluster)
    return Foreign(BridgeGateway(board, engines), SqlBridgeCalls(board))
