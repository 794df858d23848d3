"""Calls laid before bridges: the port `runtime.capabilities.bridged.BridgeCalls` on rows of SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from cluster.control_plane.registry import CALLS_KEPT
from cluster.control_plane.rows import InHand
from cluster.control_plane.stages import Stage
from cluster.foreign.board import Board
from cluster.foreign.held import IN_HAND, held_as, is_foreign, lease_of
from cluster.foreign.rows import CallRow, call_to, key_of, leave_to
from cluster.foreign.stages import BEGUN, ENDED, OPEN, CallMove, CallStage, call_after
from contracts import BridgeCall, BridgeReceipt, CallId, CallKind, CardId, Effect, Json, NodeId, OrderId, QuestionId
from runtime.canonical import clean, sha256, to_bytes
from runtime.capabilities.bridged import Handed, Offer
from runtime.capabilities.placing import ASKS_FIRST, carried_by
from runtime.errors import CapabilityFailed, StaleWriter
from runtime.ledger.rows import time_to_number
from runtime.ledger.transaction import Transaction


class SqlBridgeCalls:
    """Lays calls before whatever bridge holds the order now; see the port."""

    def __init__(self, board: Board) -> None:
        self._board = board

    async def offer(self, offer: Offer) -> Handed:
        """Lay a call before the bridge, or take up the very same one; see the port."""
        return _Handed(self._board, await self._board.write(lambda tx, now: self._offer(tx, now, offer)))

    async def asked(self, order_id: OrderId, key: str, arguments: Mapping[str, Json]) -> Handed | None:
        """Return the call for which the bridge asked leave; see the port."""
        digest = sha256(clean(arguments))
        return await self._found(
            order_id, key, lambda row: row.stage is CallStage.ASKED and row.call.arguments_sha256 == digest
        )

    async def begun(self, order_id: OrderId, key: str) -> Handed | None:
        """Return the call that the bridge which holds the order now had leave for; see the port."""
        return await self._found(order_id, key, lambda row: row.stage in BEGUN)

    async def never_begun(self, order_id: OrderId, key: str) -> bool:
        """Whether no bridge ever had leave for a call of that key; see the port."""
        rows = await self._board.write(lambda tx, _: self._of_key(tx, order_id, key))
        return bool(rows) and all(row.stage not in BEGUN for row in rows)

    async def leave_over(self, order_id: OrderId, key: str) -> None:
        """Return once no bridge may begin with a call of that key any more; see the port."""

        def close(transaction: Transaction, now: datetime) -> datetime | None:
            rows = [row for row in self._of_key(transaction, order_id, key) if row.stage is CallStage.ALLOWED]
            until = max((each for row in rows if (each := row.runs_until(now))), default=None)
            for row in rows if until is None else ():
                transaction.run(self._board.calls.move, int(row.stage), leave_to(None, closed=True), row.call_id)
                _erase(transaction, self._board, row)
            return until

        while (until := await self._board.write(close)) is not None:
            await self._board.until(until)

    async def _found(self, order_id: OrderId, key: str, fits: Callable[[CallRow], bool]) -> Handed | None:
        def look(transaction: Transaction, _: datetime) -> CallRow | None:
            order = self._board.round(transaction).find(order_id)
            rows = self._of_key(transaction, order_id, key)
            mine = [row for row in rows if order is not None and row.stay == held_as(order) and fits(row)]
            return mine[-1] if mine else None

        row = await self._board.write(look)
        return None if row is None else _Handed(self._board, row)

    def _offer(self, transaction: Transaction, now: datetime, offer: Offer) -> CallRow:
        order = self._board.round(transaction).find(offer.order_id)
        if order is None or order.stage is not Stage.RUNNING or not is_foreign(order.runner):
            raise CapabilityFailed(
                f"{offer.capability} is carried out by a bridge, and {offer.order_id} is in the hands of none.",
                use=offer.capability, happened="no",
            )  # fmt: skip
        arguments = {name: clean(value) for name, value in offer.arguments.items()}
        digest = sha256(arguments)
        for row in self._of_key(transaction, offer.order_id, offer.key):
            if row.stage in OPEN:
                was = *row.stay, row.call.kind, row.call.arguments_sha256
                same = was == (*held_as(order), offer.kind, digest)
                if same:
                    return row
                move_call(transaction, self._board, row.call_id, CallMove.WITHDRAW, {})
        self._require_able(transaction, order, offer)
        call = BridgeCall(
            call_id=CallId.new(), order_id=offer.order_id, step=offer.step, kind=offer.kind,
            capability=offer.capability, effect=offer.effect, ask_first=offer.ask_first, arguments=arguments,
            arguments_sha256=digest, key=offer.key, within_s=offer.within_s,
        )  # fmt: skip
        stage = CallStage.OFFERED if offer.ask_first else CallStage.ALLOWED
        transaction.run(self._board.sql.forget_calls, time_to_number(now - CALLS_KEPT))
        transaction.run(
            self._board.calls.put, call.call_id, offer.order_id, key_of(offer.key), order.fence, int(stage),
            time_to_number(now), call_to(call, NodeId(order.node), order.runner, held_as(order)[0]),
        )  # fmt: skip
        put = read_call(transaction, self._board, call.call_id)
        assert put is not None, "it was just put there"
        return put

    def _require_able(self, transaction: Transaction, order: InHand, offer: Offer) -> None:
        """Return when the node of the order carries the call out; the matcher saw to it when the order was placed."""
        labels = self._board.round(transaction).nodes[order.node][0].labels
        unable = offer.capability not in carried_by(labels)
        if unable or (offer.ask_first and ASKS_FIRST not in labels):
            why = "does not carry it out" if unable else "does not ask before effects"
            raise CapabilityFailed(
                f"{offer.capability} cannot be called at {order.node}: its bridge {why}. Its capabilities are declared "
                "when it registers.",
                use=offer.capability, node=order.node, happened="no",
            )  # fmt: skip

    def _of_key(self, transaction: Transaction, order_id: OrderId, key: str) -> list[CallRow]:
        found = transaction.all(self._board.calls.of_key, order_id, key_of(key))
        rows = [CallRow.from_row(row) for row in found]
        return [row for row in rows if row.call.kind is CallKind.CALL]


class _Handed:
    """The port `Handed` on one row."""

    def __init__(self, board: Board, row: CallRow) -> None:
        self._board = board
        self.call_id = row.call_id
        self.node_id = row.node_id

    async def until_asked(self) -> None:
        """Return once the bridge asks for leave."""
        while (await self._board.row(self.call_id)).stage is CallStage.OFFERED:
            await self._board.rest()

    async def until_answered(self) -> BridgeReceipt:
        """Return the receipt."""
        while (row := await self._board.row(self.call_id)).stage not in ENDED:
            await self._board.rest()
        if row.stage is not CallStage.ANSWERED:
            what = f"{row.call.capability} is not carried out: the call was taken back before the bridge had leave."
            raise CapabilityFailed(what, use=row.call.capability, happened="no")
        if not row.said:
            raise StaleWriter(f"The stay is over in which the receipt of {self.call_id} came.", call_id=self.call_id)
        return BridgeReceipt.read(row.said)

    async def allow(self) -> None:
        """Let the bridge carry it out, as long as the lease surely holds; see the port."""
        while (until := await self._board.write(self._allow)) is not None:
            await self._board.until(until)

    async def put_to_people(self, ids: Sequence[CardId | QuestionId]) -> None:
        """Tell the bridge that people decide first."""
        await self._move(CallMove.PUT_TO_PEOPLE, {"waiting_for": list(ids)})

    async def refuse(self, code: str, reason: str) -> None:
        """Tell the bridge that it must not happen."""
        await self._move(CallMove.REFUSE, {"code": code, "reason": reason})

    async def withdraw(self) -> None:
        """Take it back; see the port."""
        await self._move(CallMove.WITHDRAW, {})

    async def _move(self, move: CallMove, said: Mapping[str, Json]) -> None:
        await self._board.write(lambda tx, _: move_call(tx, self._board, self.call_id, move, said))

    def _allow(self, transaction: Transaction, now: datetime) -> datetime | None:
        """Give leave; return instead until when an earlier leave for the same effect runs, where one does."""
        row = read_call(transaction, self._board, self.call_id)
        order = None if row is None else self._board.round(transaction).find(row.order_id)
        stays = row is not None and order is not None and row.stay == held_as(order)
        if row is None or order is None or not stays or lease_of(transaction, order, now) is None:
            raise StaleWriter(f"The slot in which {self.call_id} was to be carried out is lost.", call_id=self.call_id)
        found = transaction.all(self._board.calls.of_key, order.order_id, key_of(row.call.key))
        others = [each for each in map(CallRow.from_row, found) if each.call_id != self.call_id]
        until = max((each for other in others if (each := other.runs_until(now))), default=None)
        if until is None:
            move_call(transaction, self._board, self.call_id, CallMove.ALLOW, {})
        return until


def read_call(transaction: Transaction, board: Board, call_id: CallId) -> CallRow | None:
    """Return a call inside a transaction."""
    row = transaction.one(board.calls.one, call_id)
    return None if row is None else CallRow.from_row(row)


def move_call(
    transaction: Transaction, board: Board, call_id: CallId, move: CallMove, said: Mapping[str, Json]
) -> CallRow | None:  # fmt: skip
    """Move a call on where its stage allows that, and return how it stood before; None when there is none."""
    row = read_call(transaction, board, call_id)
    if row is None:
        return None
    stage = call_after(row.stage, move)
    if move is CallMove.WITHDRAW and row.stage is CallStage.ALLOWED and row.call.effect is Effect.READ:
        stage = CallStage.WITHDRAWN  # it changes nothing, whether it is still done or not
    if stage is not None:
        transaction.run(board.calls.move, int(stage), to_bytes(dict(said)) if said else None, call_id)
        if stage in ENDED:
            _erase(transaction, board, row)
    return row


async def erase_stale(board: Board, order_id: OrderId) -> None:
    """Erase arguments and receipts of calls that no bridge may say anything about any more: their stay is over.

    Nobody is told to carry such a call out. What came of it stands in the ledger, or is found out by its key or asked
    of a person: a receipt counts only while the stay goes on in which it came.
    """

    def erase(transaction: Transaction, now: datetime) -> None:
        order = board.round(transaction).find(order_id)
        in_hand = order is not None and order.stage in IN_HAND and lease_of(transaction, order, now) is not None
        stay = held_as(order) if order is not None and in_hand else None
        for row in map(CallRow.from_row, transaction.all(board.calls.of_order, order_id)):
            if row.stay != stay:
                _erase(transaction, board, row)
                if row.stage is CallStage.ANSWERED:
                    transaction.run(board.calls.move, int(row.stage), None, row.call_id)

    await board.write(erase)


def _erase(transaction: Transaction, board: Board, row: CallRow) -> None:
    """Take the arguments out of the row: what is asked later about the call is answered by their hash."""
    if row.call.arguments:
        transaction.run(board.calls.erase, row.without_arguments(), row.call_id)
