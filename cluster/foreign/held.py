"""Whether a bridge holds an order: its row in the queue and the lease of its slot, read together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cluster.control_plane.round import Round
from cluster.control_plane.rows import InHand, order_from
from cluster.control_plane.stages import Stage
from cluster.foreign.board import Board
from cluster.foreign.errors import StaleBridge
from cluster.slot import HeldSlot, allocation_of
from contracts import NodeId, OrderId, TaskOrder
from runtime.ledger.leases import renew
from runtime.ledger.port import Lease
from runtime.ledger.rows import time_from_number
from runtime.ledger.transaction import Transaction

PREFIX = "bridge"
"""First part of the name of every bridge that speaks HTTP, as the queue knows it."""


@dataclass(frozen=True, slots=True)
class Charge:
    """An order in the slot of a bridge."""

    order: TaskOrder
    held: HeldSlot


@dataclass(frozen=True, slots=True)
class Hand:
    """Who says something about which order, and under which fence."""

    runner: str
    node_id: NodeId
    order_id: OrderId
    fence: int


def runner_of(token: str, node_id: NodeId, session: str) -> str:
    """Return the name of a session of a bridge in the queue; nobody with another token can bear it."""
    return f"{PREFIX}/{token}/{node_id.ulid}/{session}"


def is_foreign(runner: str) -> bool:
    """Whether that is a bridge that speaks HTTP."""
    return runner.partition("/")[0] == PREFIX


def lease_of(transaction: Transaction, order: InHand, now: datetime) -> Lease | None:
    """Return the live lease of the order's slot; None when it ran out or is not the order's any more."""
    row = transaction.one(transaction.statements.lease, order.lease_name) if order.lease_name else None
    if row is None or row[1:3] != (f"{order.runner}/{order.order_id}", order.fence):
        return None
    expires_at = time_from_number(row[3])
    return Lease(row[0], row[1], row[2], expires_at) if expires_at > now else None


def charge_of(
    transaction: Transaction, board: Board, round_: Round, order: InHand, now: datetime
) -> Charge | None:  # fmt: skip
    """Return an order in hand, with the lease of its slot prolonged; None when that ran out."""
    lease = lease_of(transaction, order, now)
    row = transaction.one(board.sql.data, order.order_id)
    if lease is None or row is None:
        return None
    lease = renew(transaction, lease, board.rules.lease_s, now)
    node = round_.nodes[order.node][0]
    return Charge(
        order_from(bytes(row[0])),
        HeldSlot(order.slot, allocation_of(node, order.slot, order.order_id, lease), lease),
    )


def require_held(transaction: Transaction, board: Board, hand: Hand, now: datetime) -> Charge:
    """Return the order, with its lease prolonged by what is said; raise StaleBridge unless it is in that hand."""
    round_ = board.round(transaction, hand.runner)
    order = round_.find(hand.order_id)
    if order is not None and (order.stage, order.runner, order.fence) == (Stage.RUNNING, hand.runner, hand.fence):
        charge = charge_of(transaction, board, round_, order, now)
        if charge is not None:
            return charge
    raise StaleBridge(
        f"{hand.order_id} is not, or no longer, in the hands of this bridge under fence {hand.fence}: its slot was "
        "lost or given back. Do nothing more for it; what was finished is kept, and it goes on elsewhere.",
        order_id=hand.order_id, fence=hand.fence,
    )  # fmt: skip
