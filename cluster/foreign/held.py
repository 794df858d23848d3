"""Whether a bridge holds an order: its row in the queue and the lease of its slot, read together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cluster.control_plane.round import Round
from cluster.control_plane.rows import InHand, order_from
from cluster.control_plane.stages import Move, Stage, stage_after
from cluster.foreign.board import Board
from cluster.foreign.errors import StaleBridge
from cluster.slot import HeldSlot, allocation_of, slot_id
from contracts import NodeId, OrderId, SlotId, TaskOrder
from runtime.ledger.leases import renew
from runtime.ledger.port import Lease
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.transaction import Transaction

PREFIX = "bridge"
"""First part of the name of every bridge that speaks HTTP, as the queue knows it."""

IN_HAND = (Stage.ASSIGNED, Stage.RUNNING)


@dataclass(frozen=True, slots=True)
class Charge:
    """An order in the slot of a bridge."""

    order: TaskOrder
    held: HeldSlot


@dataclass(frozen=True, slots=True)
class Hand:
    """Who says something about which order, in which slot and under which fence."""

    runner: str
    node_id: NodeId
    order_id: OrderId
    slot_id: SlotId
    fence: int

    def is_of(self, order: InHand) -> bool:
        """Whether the order is, or was when it ended, in this very hand: fences of two slots may be equal."""
        return (self.runner, self.slot_id, self.fence) == (order.runner, *held_as(order))


def held_as(order: InHand) -> tuple[SlotId, int]:
    """Return in which slot, and under which fence, an order is held: together no two stays of an order have them."""
    return slot_id(NodeId(order.node), order.slot), order.fence


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


def told_of(
    transaction: Transaction, board: Board, round_: Round, order: InHand, lease: Lease
) -> Charge | None:  # fmt: skip
    """Return an order in hand as it is told; None when the queue has nothing of it."""
    row = transaction.one(board.sql.data, order.order_id)
    if row is None:
        return None
    allocation = allocation_of(round_.nodes[order.node][0], order.slot, order.order_id, lease)
    return Charge(order_from(bytes(row[0])), HeldSlot(order.slot, allocation, lease))


def keep_in_hand(
    transaction: Transaction, board: Board, round_: Round, order: InHand, now: datetime
) -> Charge | None:  # fmt: skip
    """Prolong the slot of an order because its bridge said a word about it; None when the slot ran out.

    The first word takes the order: until then it is only assigned, and goes back when the word does not come in time.
    """
    lease = lease_of(transaction, order, now)
    if lease is None:
        return None
    if stage_after(order.stage, Move.ACCEPT) is Stage.RUNNING:
        transaction.run(
            board.sql.place, int(Stage.RUNNING), order.runner, order.node, order.slot, order.fence,
            time_to_number(now), order.order_id,
        )  # fmt: skip
    return told_of(transaction, board, round_, order, renew(transaction, lease, board.rules.lease_s, now))


def require_held(transaction: Transaction, board: Board, hand: Hand, now: datetime) -> Charge:
    """Return the order, with its slot prolonged by what is said; raise StaleBridge unless it is in that hand."""
    round_ = board.round(transaction)
    order = round_.find(hand.order_id)
    if order is not None and order.stage in IN_HAND and hand.is_of(order):
        charge = keep_in_hand(transaction, board, round_, order, now)
        if charge is not None:
            return charge
    raise StaleBridge(
        f"{hand.order_id} is not, or no longer, in the hands of this bridge under fence {hand.fence}: its slot was "
        "lost or given back. Do nothing more for it; what was finished is kept, and it goes on elsewhere.",
        order_id=hand.order_id, fence=hand.fence,
    )  # fmt: skip
