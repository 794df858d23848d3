"""Bridges that speak HTTP enter, give signs of life and leave: jobs inside one transaction of the ledger's writer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from cluster.control_plane.faults import lost_report
from cluster.control_plane.registry import Registry
from cluster.control_plane.round import Round
from cluster.control_plane.rows import InHand
from cluster.control_plane.stages import Stage
from cluster.foreign.board import Board
from cluster.foreign.errors import BridgeReplaced
from cluster.foreign.held import Charge, charge_of, lease_of
from cluster.slot import Node
from contracts import NodeId, OrderId
from runtime.ledger.leases import renew
from runtime.ledger.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a sign of life."""

    orders: tuple[Charge, ...]
    """Orders of the bridge that it did not name."""
    lost: tuple[OrderId, ...]
    """Orders that it named and that are not its own."""


class Entering:
    """The jobs."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._registry = Registry(board.sql)

    def enter(self, transaction: Transaction, now: datetime, runner: str, node: Node) -> None:
        """Enter a node. Its earlier session is over, and what that had in hand goes on elsewhere."""
        self._end_sessions(transaction, self._board.round(transaction, runner), node.node_id)
        self._registry.beat(transaction, runner, node, now, for_all=True, pulled_at=now)

    def leave(self, transaction: Transaction, runner: str, node: Node) -> None:
        """Let a session end in good order."""
        round_ = self._board.round(transaction, runner)
        self._require_session(round_, runner)
        self._end_sessions(transaction, round_, node.node_id)
        self._registry.leave(transaction, runner, node)

    def hear(
        self, transaction: Transaction, now: datetime, runner: str, node: Node, *, holding: Collection[OrderId],
        taking: bool,
    ) -> Heard:  # fmt: skip
        """Take a sign of life in: prolong what the bridge holds, and give it what is next."""
        round_ = self._board.round(transaction, runner)
        self._require_session(round_, runner)
        self._registry.beat(transaction, runner, node, now, for_all=True, pulled_at=now if taking else None)
        for order in self._running(round_, runner):
            if order.order_id in holding and (lease := lease_of(transaction, order, now)) is not None:
                renew(transaction, lease, self._board.rules.lease_s, now)
        round_ = self._board.round(transaction, runner)
        round_.recover(lost_report)
        round_.accept_mine()
        if taking:
            round_.match()
        mine = {order.order_id: order for order in self._running(round_, runner)}
        fresh = [order for order_id, order in mine.items() if order_id not in holding]
        charges = [charge_of(transaction, self._board, round_, order, now) for order in fresh]
        lost = tuple(order_id for order_id in holding if order_id not in mine)
        return Heard(tuple(each for each in charges if each is not None), lost)

    def _running(self, round_: Round, runner: str) -> list[InHand]:
        return [each for each in round_.in_hand() if each.stage is Stage.RUNNING and each.runner == runner]

    def _require_session(self, round_: Round, runner: str) -> None:
        if not any(each.name == runner for each in round_.runners):
            raise BridgeReplaced(
                "This session is over: the node was registered anew, has left, or gave no sign of life for too long. "
                "Register again; orders that it had go on from the ledger.",
            )

    def _end_sessions(self, transaction: Transaction, round_: Round, node_id: NodeId) -> None:
        """Forget every session of the node, and queue what it had again."""
        for order in round_.in_hand():
            if order.node == node_id:
                round_.queue_again(order)
        for each in round_.runners:
            if each.node == node_id:
                transaction.run(self._board.sql.forget_runner, each.name)
