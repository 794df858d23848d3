"""Bridges that speak HTTP enter, give signs of life and leave: jobs inside one transaction of the ledger's writer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from cluster.control_plane.faults import lost_report
from cluster.control_plane.registry import Registry
from cluster.control_plane.round import Round
from cluster.control_plane.rows import InHand
from cluster.foreign.board import Board
from cluster.foreign.errors import BridgeReplaced, SessionOver
from cluster.foreign.held import Charge, keep_in_hand, lease_of, told_of
from cluster.slot import Node
from contracts import NodeId, OrderId
from runtime.ledger.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a sign of life."""

    orders: tuple[Charge, ...]
    """Orders of the bridge that it did not name."""
    kept: tuple[Charge, ...]
    """Orders that it named and holds."""
    lost: tuple[OrderId, ...]
    """Orders that it named and that are not its own."""


class Entering:
    """The jobs."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._registry = Registry(board.sql)

    def enter(self, transaction: Transaction, now: datetime, runner: str, node: Node) -> None:
        """Enter a node. Its earlier session is over, and what that had in hand goes on elsewhere."""
        self._end_sessions(transaction, self._board.round(transaction), node.node_id)
        self._registry.beat(transaction, runner, node, now, for_all=True, pulled_at=now)

    def leave(self, transaction: Transaction, runner: str, node: Node) -> None:
        """Let a session end in good order."""
        round_ = self._board.round(transaction)
        require_session(round_, runner, node.node_id)
        self._end_sessions(transaction, round_, node.node_id)
        self._registry.leave(transaction, runner, node)

    def hear(
        self, transaction: Transaction, now: datetime, runner: str, node: Node, *, holding: Collection[OrderId],
        taking: bool,
    ) -> Heard:  # fmt: skip
        """Take a sign of life in: prolong what the bridge holds, and tell it what is assigned to it."""
        round_ = self._board.round(transaction)
        require_session(round_, runner, node.node_id)
        self._registry.beat(transaction, runner, node, now, for_all=True, pulled_at=now if taking else None)
        kept = [
            keep_in_hand(transaction, self._board, round_, order, now)
            for order in round_.in_hand()
            if order.runner == runner and order.order_id in holding
        ]
        round_ = self._board.round(transaction)
        round_.recover(lost_report)
        round_.match()
        mine = {order.order_id: order for order in round_.in_hand() if order.runner == runner}
        told = [self._told(transaction, round_, mine[each], now) for each in mine if each not in holding]
        lost = tuple(order_id for order_id in holding if order_id not in mine)
        return Heard(tuple(filter(None, told)), tuple(filter(None, kept)), lost)

    def _told(self, transaction: Transaction, round_: Round, order: InHand, now: datetime) -> Charge | None:
        lease = lease_of(transaction, order, now)
        return None if lease is None else told_of(transaction, self._board, round_, order, lease)

    def _end_sessions(self, transaction: Transaction, round_: Round, node_id: NodeId) -> None:
        """Forget every session of the node, and queue what it had again."""
        for order in round_.in_hand():
            if order.node == node_id:
                round_.queue_again(order)
        for each in round_.runners:
            if each.node == node_id:
                transaction.run(self._board.sql.forget_runner, each.name)


def require_session(round_: Round, runner: str, node_id: NodeId) -> None:
    """Return when the session goes on; raise BridgeReplaced or SessionOver.

    Only the token of a node hears that it was registered anew; to others a node that is there is as one that is not.
    """
    if any(each.name == runner for each in round_.runners):
        return
    if any(each.name.rpartition("/")[0] == runner.rpartition("/")[0] for each in round_.runners):
        raise BridgeReplaced(
            f"{node_id} was registered anew, by another process or after a restart: this session is over. Stop, and do "
            "nothing more for its orders; they go on from the ledger.",
            node_id=node_id,
        )
    raise session_over(node_id)


def session_over(node_id: NodeId) -> SessionOver:
    """Return the error for a session that is not there; it says nothing of whether the node is."""
    return SessionOver(
        f"This session of {node_id} is over, or never was: the node left, gave no sign of life for too long, or is "
        "none of this token. Register it; orders that it had go on from the ledger.",
        node_id=node_id,
    )
