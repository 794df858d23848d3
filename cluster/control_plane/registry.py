"""Nodes and the processes that serve them: entered, kept alive, closed, forgotten."""

from __future__ import annotations

from datetime import datetime, timedelta

from cluster.control_plane.closing import record
from cluster.control_plane.port import Closer
from cluster.control_plane.rows import Runner, node_to
from cluster.control_plane.stages import Closed
from cluster.control_plane.statements import Statements
from cluster.slot import Node
from contracts import NodeId
from runtime.errors import NotFound
from runtime.executor.holder import is_gone
from runtime.ledger.rows import time_to_number
from runtime.ledger.transaction import Transaction

KEPT = timedelta(hours=1)
"""How long a node stays listed, as lost, after its last process died."""
REPORTS_KEPT = timedelta(days=1)
"""How long a report waits for whoever submitted the order to come back; the order's stream tells it for ever."""

CALLS_KEPT = timedelta(days=1)
"""How long a call is kept that was laid before a bridge, so that one whose answer was lost can still be told. Its
arguments go as soon as nobody is told any more to carry it out."""


class Registry:
    """The jobs about nodes."""

    def __init__(self, sql: Statements) -> None:
        self._sql = sql

    def beat(
        self,
        transaction: Transaction,
        runner: str,
        node: Node,
        now: datetime,
        *,
        for_all: bool,
        pulled_at: datetime | None,
    ) -> None:
        """Say that a process lives; its first beat enters it, and lets what it queued before stand in line again.

        What the node offers stays as it was entered while another process serves it, too: a command beside a server
        would take labels away and give them back with each beat.
        """
        known = {row[0]: Runner(*row) for row in transaction.all(self._sql.runners)}
        at, pulled = time_to_number(now), 0 if pulled_at is None else time_to_number(pulled_at)
        if runner in known:
            transaction.run(self._sql.beat, int(for_all), at, pulled, runner)
        else:
            transaction.run(self._sql.put_runner, runner, node.node_id, int(for_all), at, pulled)
            transaction.run(self._sql.come_back, runner)
            self._forget_old(transaction, now)
        if transaction.one(self._sql.closed, node.node_id) is None:
            transaction.run(self._sql.put_node, node.node_id, node_to(node), int(Closed.OPEN), at)
        elif any(
            each.node == node.node_id and each.name != runner and not is_gone(each.name) for each in known.values()
        ):
            transaction.run(self._sql.keep_node, at, node.node_id)
        else:
            transaction.run(self._sql.move_node, node_to(node), at, node.node_id)

    def leave(self, transaction: Transaction, runner: str, node: Node | None) -> None:
        """Say that a process serves no more; an open node that nobody else serves is forgotten with it."""
        transaction.run(self._sql.leave, runner)
        transaction.run(self._sql.forget_runner, runner)
        if node is None or any(row[1] == node.node_id for row in transaction.all(self._sql.runners)):
            return
        closed = transaction.one(self._sql.closed, node.node_id)
        if closed is not None and closed[0] == Closed.OPEN:
            transaction.run(self._sql.forget_node, node.node_id)

    def close(self, transaction: Transaction, node_id: NodeId, closed: Closed, by: Closer, now: datetime) -> None:
        """Open or close a node and record who did; raise NotFound when there is none, change nothing where it is so."""
        row = transaction.one(self._sql.closed, node_id)
        if row is None:
            raise NotFound(
                f"There is no {node_id}. `silicon cluster nodes` lists those that there are.", node_id=node_id
            )
        if row[0] == closed:
            return
        transaction.run(self._sql.close_node, int(closed), node_id)
        record(transaction, node_id, closed, by, now)

    def _forget_old(self, transaction: Transaction, now: datetime) -> None:
        transaction.run(self._sql.forget_nodes, time_to_number(now - KEPT))
        transaction.run(self._sql.forget_reports, time_to_number(now - REPORTS_KEPT))
        transaction.run(self._sql.forget_calls, time_to_number(now - CALLS_KEPT))
