"""One look at queue, nodes and slots inside a transaction of the ledger's writer: nobody else writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from cluster.control_plane.matcher import Head, Offer, Wants, choose_next, turn_of
from cluster.control_plane.rows import WARM, Decoder, InHand, Runner, warm_slots
from cluster.control_plane.stages import Closed, Move, Stage, stage_after
from cluster.control_plane.statements import Statements
from cluster.slot import HeldSlot, Node, allocation_of
from contracts import OrderId
from runtime.executor.holder import is_gone
from runtime.ledger.leases import acquire, release
from runtime.ledger.port import Lease
from runtime.ledger.rows import time_to_number
from runtime.ledger.transaction import Transaction

SLOTS_PER_ORDER = 3
"""Slots an order may lose, one after another, before that is reported."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How long things hold, in seconds."""

    lease_s: float
    """A slot that is not renewed for so long is free."""
    lost_s: float
    """A process that gave no sign of life for so long is lost."""
    accept_s: float
    """An order that is not begun within this time goes back."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An order that got its slot in this round."""

    order_id: OrderId
    submitter: str
    runner: str
    held: HeldSlot


class Round:
    """Carries out what was decided about orders; it raises nothing, so that a transaction never ends halfway."""

    def __init__(
        self, transaction: Transaction, sql: Statements, decode: Decoder, rules: Rules, *, now: datetime, me: str
    ) -> None:
        self._transaction = transaction
        self._sql = sql
        self._decode = decode
        self._rules = rules
        self._now = now
        self._me = me
        self._at = time_to_number(now)

    @cached_property
    def runners(self) -> Sequence[Runner]:
        """Processes that are entered, living or not."""
        return [Runner(*row) for row in self._transaction.all(self._sql.runners)]

    @cached_property
    def held(self) -> dict[str, tuple[str, int]]:
        """Slots that are held, by the name of their lease: by whom, and with which fence."""
        rows = self._transaction.all(self._sql.slots, "slot/", "slot0", self._at)
        return {name: (holder, fence) for name, holder, fence in rows}

    @cached_property
    def nodes(self) -> dict[str, tuple[Node, Closed]]:
        """Nodes that are entered."""
        return {
            node: (self._decode.node(node, bytes(facts)), Closed(closed))
            for node, facts, closed in self._transaction.all(self._sql.nodes)
        }

    def lives(self, runner: Runner) -> bool:
        """Whether a process gave a sign of life in time and is not known to be gone."""
        if runner.name == self._me:
            return True
        return runner.beat_at > self._since(self._rules.lost_s) and not is_gone(runner.name)

    def pulls(self, runner: Runner) -> bool:
        """Whether a process lives and looks for its orders: one whose receive loop is dead gets none."""
        if runner.name == self._me:
            return True
        return self.lives(runner) and runner.pulled_at > self._since(self._rules.lost_s)

    def match(self) -> list[Placed]:
        """Give free slots to the orders that are next, as long as one fits."""
        heads = self._heads()
        if not heads:
            return []
        offers, placed = self._offers(), list[Placed]()
        while (chosen := choose_next(heads.values(), offers)) is not None:
            head, offer, index = chosen
            offer.free.remove(index)
            lease = self._lease(offer, index, head)
            if lease is None:
                continue
            placed.append(self._place(head, offer, index, lease))
            following = self._head(head.wants.key)
            if following is None:
                del heads[head.wants.key]
            else:
                heads[head.wants.key] = following
        if not heads:
            self._transaction.run(self._sql.forget_turns)
        return placed

    def recover(self, failed: Callable[[OrderId, str], bytes]) -> None:
        """Give back what was not begun in time and what lost its slot, and set aside what the dead queued.

        `failed` makes the report on an order that lost its last slot there.
        """
        for runner in self.runners:
            if not self.lives(runner):
                self._transaction.run(self._sql.leave, runner.name)
                self._transaction.run(self._sql.forget_runner, runner.name)
        self._forget_gone_holders()
        for each in self.in_hand():
            holds = self.held.get(each.lease_name, ("", 0))[1] == each.fence
            if each.stage is Stage.RUNNING and not holds:
                self.count_loss(each, failed)
            elif each.stage is Stage.ASSIGNED and (not holds or each.since <= self._since(self._rules.accept_s)):
                self._transaction.run(self._sql.distrust, each.runner)
                self.queue_again(each)
        self.__dict__.pop("runners", None)

    def accept_mine(self) -> list[Placed]:
        """Begin what was assigned to this process by another one."""
        found = []
        for each in self.in_hand():
            if each.stage is Stage.ASSIGNED and each.runner == self._me and each.node in self.nodes:
                holder, fence = self.held.get(each.lease_name, ("", 0))
                if fence != each.fence:
                    continue
                node = self.nodes[each.node][0]
                lease = acquire(self._transaction, each.lease_name, holder, self._rules.lease_s, self._now)
                if lease is not None:  # under a new fence: whoever assigned it may not have been the last to hold it
                    found.append(
                        self._begin(each.order_id, each.submitter, node, each.slot, lease, follows=each.fence - 1)
                    )
        return found

    def in_hand(self) -> list[InHand]:
        """Return the orders that have a slot."""
        return [InHand.from_row(row) for row in self._transaction.all(self._sql.in_hand)]

    def find(self, order_id: str) -> InHand | None:
        """Return one order, whatever its stage."""
        row = self._transaction.one(self._sql.order, order_id)
        return None if row is None else InHand.from_order(order_id, row)

    def count_loss(self, order: InHand, failed: Callable[[OrderId, str], bytes]) -> None:
        """Queue an order again that lost its slot, or report it when that was its last."""
        losses = order.losses + 1
        if losses < SLOTS_PER_ORDER:
            self.queue_again(order, losses=losses)
            return
        self._free(order)
        report = failed(order.order_id, order.lease_name)
        self._transaction.run(self._sql.report, int(Stage.REPORTED), self._at, report, order.order_id)

    def queue_again(self, order: InHand, *, losses: int | None = None) -> None:
        """Put an order back to its old place in line, or set it aside when nobody waits for it any more."""
        stage = stage_after(order.stage, Move.GIVE_BACK)
        if stage is None:
            return
        self._free(order)
        if not any(runner.name == order.submitter and self.lives(runner) for runner in self.runners):
            stage = Stage.LEFT
        lost = order.losses if losses is None else losses
        self._transaction.run(self._sql.queue_again, int(stage), lost, self._at, order.order_id)

    def drop(self, order: InHand) -> None:
        """Forget an order, and take its slot from it."""
        self._free(order)
        self._transaction.run(self._sql.forget_order, order.order_id)

    def next_turn(self, line: int, execution: str) -> int:
        """Return the round of the execution's next order, and use it up."""
        served, used = self._turn(str(line)), self._turn(name := f"{line}/{execution}")
        turn = turn_of(execution, served, 0 if used is None else used[0])
        self._set_turn(name, turn + 1, "", new=used is None)
        return turn

    def _offers(self) -> list[Offer]:
        """Return the nodes that take orders, with what is free there."""
        pulling = [runner for runner in self.runners if self.pulls(runner)]
        warm = warm_slots(self._transaction.all(self._sql.slots, *WARM, self._at))
        offers = []
        for name, (node, closed) in self.nodes.items():
            here = [runner for runner in pulling if runner.node == name]
            if closed is not Closed.OPEN or not here:
                continue
            free = [index for index in range(node.slots) if node.lease_name(index) not in self.held]
            for_all = max((each for each in here if each.for_all), key=lambda each: each.pulled_at, default=None)
            own = frozenset(each.name for each in here)
            ready = [index for index, holder in warm.get(name, {}).items() if holder in own]
            offers.append(Offer(node, free, None if for_all is None else for_all.name, own, ready))
        return offers

    def _heads(self) -> dict[str, Head]:
        heads, key = dict[str, Head](), ""
        while (row := self._transaction.one(self._sql.next_wants, key)) is not None:
            key = row[0]
            head = self._head(key)
            assert head is not None, "whoever is in line has a first"
            heads[key] = head
        return heads

    def _head(self, key: str) -> Head | None:
        row = self._transaction.one(self._sql.head, key)
        if row is None:
            return None
        seq, order_id, execution_id, line, turn, submitter = row
        return Head(seq, order_id, execution_id, line, turn, submitter, self._wants(key, order_id))

    def _wants(self, key: str, order_id: str) -> Wants:
        known = self._decode.known_wants.get(key)
        if known is None:
            row = self._transaction.one(self._sql.data, order_id)
            assert row is not None, "an order has its data"
            known = self._decode.remember(key, bytes(row[0]))
        return known

    def _lease(self, offer: Offer, index: int, head: Head) -> Lease | None:
        runner = offer.runner_for(head.submitter)
        name = offer.node.lease_name(index)
        return acquire(self._transaction, name, f"{runner}/{head.order_id}", self._rules.lease_s, self._now)

    def _place(self, head: Head, offer: Offer, index: int, lease: Lease) -> Placed:
        served, this = self._turn(str(head.line)), (head.turn, head.execution_id)
        if served is None or this > served:
            self._set_turn(str(head.line), *this, new=served is None)
        runner = offer.runner_for(head.submitter)
        assert runner is not None, "only nodes with somebody to carry it out are chosen"
        self.held[lease.name] = lease.holder, lease.fence
        if runner == self._me:
            order_id, follows = OrderId(head.order_id), lease.fence - 1
            return self._begin(order_id, head.submitter, offer.node, index, lease, follows=follows)
        placed = (int(Stage.ASSIGNED), runner, offer.node.node_id, index, lease.fence, self._at, head.order_id)
        self._transaction.run(self._sql.place, *placed)
        return Placed(OrderId(head.order_id), head.submitter, runner, _held(offer.node, index, head.order_id, lease))

    def _begin(
        self, order_id: OrderId, submitter: str, node: Node, index: int, lease: Lease, *, follows: int
    ) -> Placed:  # fmt: skip
        begun = (int(Stage.RUNNING), self._me, node.node_id, index, lease.fence, self._at, order_id)
        self._transaction.run(self._sql.place, *begun)
        self.held[lease.name] = lease.holder, lease.fence
        return Placed(order_id, submitter, self._me, _held(node, index, order_id, lease, follows))

    def _free(self, order: InHand) -> None:
        """Take the slot from an order: whoever still works there can store nothing more."""
        if order.fence:  # also when it ran out: it could be prolonged as long as nobody took it
            lease = Lease(order.lease_name, f"{order.runner}/{order.order_id}", order.fence, self._now)
            release(self._transaction, lease, self._now)
            if self.held.get(order.lease_name, ("", 0))[1] == order.fence:
                del self.held[order.lease_name]

    def _forget_gone_holders(self) -> None:
        """Free the slots of processes of this machine that are gone, before their leases run out."""
        for name, (holder, fence) in list(self.held.items()):
            if is_gone(holder):
                release(self._transaction, Lease(name, holder, fence, self._now), self._now)
                del self.held[name]

    def _turn(self, name: str) -> tuple[int, str] | None:
        row = self._transaction.one(self._sql.turn, name)
        return None if row is None else (row[0], row[1])

    def _set_turn(self, name: str, turn: int, execution_id: str, *, new: bool) -> None:
        if new:
            self._transaction.run(self._sql.put_turn, name, turn, execution_id)
        else:
            self._transaction.run(self._sql.move_turn, turn, execution_id, name)

    def _since(self, seconds: float) -> int:
        return time_to_number(self._now - timedelta(seconds=seconds))


def _held(node: Node, index: int, order_id: str, lease: Lease, follows: int = -1) -> HeldSlot:
    return HeldSlot(index, allocation_of(node, index, OrderId(order_id), lease), lease, follows)
