"""What the control plane does in one transaction: each method checks first and writes then."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cluster.control_plane.faults import lost_report, no_node_fits, queue_full
from cluster.control_plane.matcher import Wants, fits
from cluster.control_plane.port import Accepted, Entered, Seen
from cluster.control_plane.round import Placed, Round, Rules
from cluster.control_plane.rows import WARM, Decoder, InHand, order_from, warm_slots
from cluster.control_plane.stages import Closed, Move, Stage, stage_after
from cluster.control_plane.statements import Statements
from cluster.slot import HeldSlot, Node, allocation_of
from contracts import OrderId, OrderState, StatusReport, TaskOrder
from runtime.canonical import to_bytes
from runtime.clock import Clock
from runtime.errors import StaleWriter
from runtime.executor.holder import is_gone
from runtime.ledger.leases import RELEASED, acquire, holds, release
from runtime.ledger.port import Lease
from runtime.ledger.rows import time_to_number
from runtime.ledger.transaction import Transaction

_UNTOUCHED = (OrderState.DONE, OrderState.CANCELLED)
"""Nobody has an order go on that ended like this."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An order that is put into the queue."""

    order: TaskOrder
    wants: Wants
    data: bytes
    """What is stored of it."""
    losses: int
    """Slots it lost before."""


class Jobs:
    """The jobs of one process."""

    def __init__(
        self, sql: Statements, rules: Rules, *, me: str, node: Node | None, most_queued: int, clock: Clock
    ) -> None:
        self._sql = sql
        self._rules = rules
        self._me = me
        self._node = node
        self._most_queued = most_queued
        self._clock = clock
        self._decode = Decoder()

    def take(self, transaction: Transaction, order: TaskOrder, node: Node, warm: Collection[int]) -> HeldSlot | None:
        """Take a slot of the node for the order, a warm one first, when nobody waits and the node is open."""
        if transaction.one(self._sql.any_queued) is not None:
            return None
        closed = transaction.one(self._sql.closed, node.node_id)
        if closed is not None and closed[0] != Closed.OPEN:
            return None
        index = self._free_slot(transaction, node, warm)
        if index is None:
            return None
        holder = f"{self._me}/{order.order_id}"
        lease = acquire(transaction, node.lease_name(index), holder, self._rules.lease_s, self._clock.now())
        if lease is None:
            return None
        return HeldSlot(index, allocation_of(node, index, order.order_id, lease), lease, follows=lease.fence - 1)

    def warm(self, transaction: Transaction, node: Node, ready: Collection[int]) -> Mapping[int, int]:
        """Say which slots of the node this process keeps ready; return those that may be, see the port."""
        now = self._clock.now()
        for index in range(node.slots):
            name = node.warm_name(index)
            if index in ready:
                acquire(transaction, name, self._me, self._rules.lost_s, now)
            else:
                row = transaction.one(transaction.statements.lease, name)
                if row is not None and row[1] == self._me:
                    release(transaction, Lease(name, self._me, row[2], now), now)
        closed = transaction.one(self._sql.closed, node.node_id)
        if closed is not None and closed[0] != Closed.OPEN:
            return {}
        rows = [transaction.one(transaction.statements.lease, node.lease_name(index)) for index in range(node.slots)]
        kept = warm_slots(transaction.all(self._sql.slots, *WARM, time_to_number(now))).get(node.node_id, {})
        return {
            index: 0 if row is None else row[2]
            for index, row in enumerate(rows)
            if (row is None or row[1] == RELEASED) and kept.get(index, self._me) == self._me
        }

    def enter(self, transaction: Transaction, entry: Entry, leases: Sequence[Lease]) -> Entered:
        """Put an order into the queue, or take over its place there."""
        for lease in leases:
            if not holds(transaction, lease):
                raise StaleWriter(f"{lease.holder} no longer holds {lease.name}.", name=lease.name, holder=lease.holder)
        round_ = self._round(transaction)
        there = round_.find(entry.order.order_id)
        if there is not None:
            return self._enter_again(transaction, round_, there, entry)
        self._refuse_misfit(round_, entry.wants)
        self._refuse_crowd(transaction)
        self._put(transaction, round_, entry)
        return Entered(self._accepted(transaction, round_.match()))

    def see(self, transaction: Transaction, moving: frozenset[OrderId]) -> Seen:
        """Give back what stands still, give out what is free, and collect what concerns this process."""
        round_ = self._round(transaction)
        round_.recover(lost_report)
        accepted = self._accepted(transaction, [*round_.accept_mine(), *round_.match()])
        reports = []
        for order_id, report in transaction.all(self._sql.reports_for, self._me):
            reports.append(StatusReport.read(json.loads(bytes(report))))
            transaction.run(self._sql.forget_order, order_id)
        return Seen(accepted, reports, moving)

    def finish(
        self, transaction: Transaction, order_id: OrderId, held: HeldSlot, report: StatusReport
    ) -> Sequence[Accepted]:
        """Keep the report where another process waits for it, give the slot back, and go on with what is next."""
        round_ = self._round(transaction)
        order = round_.find(order_id)
        if order is not None and order.fence == held.lease.fence:
            stage = stage_after(order.stage, Move.REPORT)
            if order.submitter == self._me:
                transaction.run(self._sql.forget_order, order_id)
            elif stage is not None:
                at = time_to_number(self._clock.now())
                transaction.run(self._sql.report, int(stage), at, to_bytes(report.to_json()), order_id)
        release(transaction, held.lease, self._clock.now())
        return self._accepted(transaction, round_.match())

    def lose(self, transaction: Transaction, order_id: OrderId, held: HeldSlot) -> Sequence[Accepted]:
        """Queue an order again whose slot was lost, or report that it lost its last."""
        round_ = self._round(transaction)
        order = round_.find(order_id)
        if order is not None and order.fence == held.lease.fence and order.stage is Stage.RUNNING:
            round_.count_loss(order, lost_report)
        return self._accepted(transaction, round_.match())

    def give_back(self, transaction: Transaction, order_id: OrderId, held: HeldSlot) -> None:
        """Queue an order again, without counting a loss."""
        round_ = self._round(transaction)
        order = round_.find(order_id)
        if order is not None and order.fence == held.lease.fence:
            round_.queue_again(order)

    def withdraw(self, transaction: Transaction, order_id: OrderId, *, elsewhere_goes_on: bool) -> None:
        """Take an order of this process out of the queue, and its slot from it; see the port."""
        round_ = self._round(transaction)
        order = round_.find(order_id)
        if order is None:
            return
        if order.submitter != self._me:
            if order.runner == self._me:
                round_.queue_again(order)
        elif not (elsewhere_goes_on and order.runner not in ("", self._me)):
            round_.drop(order)

    def release(self, transaction: Transaction, held: HeldSlot) -> Sequence[Accepted]:
        """Give a slot back, and go on with what waits for it."""
        release(transaction, held.lease, self._clock.now())
        if transaction.one(self._sql.any_queued) is None:
            return ()
        return self._accepted(transaction, self._round(transaction).match())

    def _round(self, transaction: Transaction) -> Round:
        return Round(transaction, self._sql, self._decode, self._rules, now=self._clock.now(), me=self._me)

    def _enter_again(self, transaction: Transaction, round_: Round, there: InHand, entry: Entry) -> Entered:
        if there.report is not None:
            report = StatusReport.read(json.loads(there.report))
            if report.state in _UNTOUCHED:
                transaction.run(self._sql.forget_order, there.order_id)
                return Entered(report=report)
        stage = stage_after(there.stage, Move.SUBMIT)
        assert stage is not None, "an order may be submitted again at any time"
        at = time_to_number(self._clock.now())
        transaction.run(self._sql.submit_again, int(stage), entry.wants.key, self._me, at, entry.data, there.order_id)
        if stage is Stage.QUEUED and there.node:
            transaction.run(self._sql.queue_again, int(stage), 0, at, there.order_id)
        return Entered(self._accepted(transaction, round_.match()))

    def _put(self, transaction: Transaction, round_: Round, entry: Entry) -> None:
        order = entry.order
        line, at = -order.priority, time_to_number(self._clock.now())
        turn = round_.next_turn(line, order.execution_id)
        transaction.run(
            self._sql.put_order, order.order_id, order.execution_id, int(Stage.QUEUED), entry.wants.key, line, turn,
            self._me, "", "", -1, 0, entry.losses, at, entry.data, None,
        )  # fmt: skip

    def _free_slot(self, transaction: Transaction, node: Node, warm: Collection[int]) -> int | None:
        now = self._clock.now()
        low, high = node.lease_name(0).rpartition("/")[0] + "/", node.lease_name(0).rpartition("/")[0] + "0"
        held = {row[0]: row for row in transaction.all(self._sql.slots, low, high, time_to_number(now))}
        names = [node.lease_name(index) for index in range(node.slots)]
        free = [index for index, name in enumerate(names) if name not in held]
        if free:
            return min(free, key=lambda index: (index not in warm, index))
        for index, name in enumerate(names):  # a process of this machine that was killed holds nothing
            _, holder, fence = held[name]
            if is_gone(holder):
                release(transaction, Lease(name, holder, fence, now), now)
                return index
        return None

    def _refuse_misfit(self, round_: Round, wants: Wants) -> None:
        nodes = [node for node, _ in round_.nodes.values()]
        if not any(fits(node, wants) for node in nodes):
            raise no_node_fits(nodes, wants)

    def _refuse_crowd(self, transaction: Transaction) -> None:
        first, last = transaction.one(self._sql.span) or (None, None)
        if first is None or last - first + 1 < self._most_queued:  # so few rows that nothing has to be counted
            return
        (waiting,) = transaction.one(self._sql.count_queued) or (0,)
        if waiting >= self._most_queued:
            raise queue_full(waiting, self._most_queued)

    def _accepted(self, transaction: Transaction, placed: Iterable[Placed]) -> list[Accepted]:
        """Return what of it this process carries out itself."""
        mine = [each for each in placed if each.runner == self._me]
        return [Accepted(each.order_id, each.held, self._order(transaction, each)) for each in mine]

    def _order(self, transaction: Transaction, placed: Placed) -> TaskOrder | None:
        if placed.submitter == self._me:
            return None
        row = transaction.one(self._sql.data, placed.order_id)
        return None if row is None else order_from(bytes(row[0]))
