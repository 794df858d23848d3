"""What a bridge says about an order in its hands: what is next, may I, this came of it, take it back."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from cluster.control_plane import ControlPlane
from cluster.control_plane.stages import Stage
from cluster.foreign.board import Board
from cluster.foreign.calls import erase_stale, move_call, read_call
from cluster.foreign.errors import CallSettled, StaleBridge
from cluster.foreign.held import Charge, Hand, require_held
from cluster.foreign.rows import CallRow, leave_to
from cluster.foreign.stages import OPEN, CallMove, CallStage
from cluster.foreign.stewards import Stewards
from cluster.slot import slot_id
from contracts import (
    BridgeAsk,
    BridgeIntent,
    BridgeNext,
    BridgeReceipt,
    BridgeTaken,
    BridgeVerdict,
    CallId,
    CallKind,
    CallOutcome,
    Json,
    OrderState,
    StatusReport,
    VerdictKind,
    asked_id,
)
from runtime.engine.resume import open_view
from runtime.errors import InvalidArguments
from runtime.ledger.schema import cluster_calls, cluster_orders
from runtime.ledger.transaction import Transaction
from runtime.telemetry.redaction import redact

VERDICT_S = 10.0
"""How long the answer to an intent waits for rules and the decisions of people to be looked up."""
_TO_DO = (CallStage.OFFERED, CallStage.ASKED, CallStage.ALLOWED)


class Orders:
    """The orders of bridges that speak HTTP. Every word about one prolongs the lease of its slot."""

    def __init__(self, board: Board, stewards: Stewards, plane: ControlPlane) -> None:
        self._board = board
        self._stewards = stewards
        self._plane = plane

    async def next(self, hand: Hand, said: BridgeAsk) -> BridgeNext:
        """Return the next call of an order, how it ended or waits, or nothing within the time that the bridge waits.

        Raises:
            StaleBridge: the order is not in that hand any more.
        """
        loop = asyncio.get_running_loop()
        until, charge = loop.time() + said.wait_s, None
        while True:
            if (report := await self._report(hand)) is not None:
                return BridgeNext(report=report)
            if charge is None:
                try:
                    charge = await self._charge(hand)
                except StaleBridge:
                    report = await self._report(hand) or await self._parked(hand)
                    if report is not None:  # it ended between two looks, or waits for people
                        return BridgeNext(report=report)
                    raise
                await self._stewards.see_to(charge)
            call, left_s = await self._to_do(hand, said.skip), until - loop.time()
            if call is not None or left_s <= 0 or self._board.hastens:
                return BridgeNext(call=None if call is None else call.call)
            await self._board.rest(left_s)

    async def intent(self, hand: Hand, said: BridgeIntent) -> BridgeVerdict:
        """Say whether the effect of a call may happen now; asked again, the same is said.

        Raises:
            StaleBridge: the order is not in that hand any more.
            CallSettled: it is not to be carried out, or is about to use other arguments than it was given.
        """
        loop = asyncio.get_running_loop()
        until, charge = loop.time() + VERDICT_S, None
        row = await self._board.write(lambda tx, now: self._ask(tx, now, hand, said))
        while row.stage in OPEN:
            if loop.time() >= until or self._board.hastens:
                return BridgeVerdict(verdict=VerdictKind.PENDING)
            if charge is None:
                try:
                    charge = await self._charge(hand)
                except StaleBridge:
                    row = await self._board.row(said.call_id)
                    if row.stage in OPEN:
                        raise
                    break  # it was decided between two looks, and the slot given back with it
                await self._stewards.see_to(charge)
            await self._board.rest()
            row = await self._board.row(said.call_id)
        match row.stage:
            case CallStage.CARD:
                await self._until_given_back(hand, until)
                waiting_for = tuple(asked_id(str(each)) for each in _listed(row.said.get("waiting_for")))
                return BridgeVerdict(verdict=VerdictKind.CARD, waiting_for=waiting_for)
            case CallStage.REFUSED:
                code, reason = str(row.said.get("code")), str(row.said.get("reason"))
                return BridgeVerdict(verdict=VerdictKind.REFUSED, code=code, reason=reason)
            case CallStage.ALLOWED:
                leave_until = await self._board.write(lambda tx, now: self._tell(tx, now, hand, said.call_id))
                left_s = (leave_until - self._board.clock.now()).total_seconds()
                return BridgeVerdict(verdict=VerdictKind.ALLOWED, key=row.call.key, within_s=left_s)
        raise _settled(row)

    async def receipt(self, hand: Hand, said: BridgeReceipt) -> BridgeTaken:
        """Keep how a call ended; a second receipt changes nothing.

        Raises:
            StaleBridge: the order is not in that hand any more: nothing of the receipt is kept.
            CallSettled: nobody gave leave for the call.
            InvalidArguments: a file is not base64, or a look-up's answer is given to a call.
        """
        _require_readable(said)
        return await self._board.write(lambda tx, now: self._keep(tx, now, hand, said))

    async def give_back(self, hand: Hand) -> None:
        """Take an order back; it goes on elsewhere, or there again. Raises StaleBridge when it is not in that hand."""
        charge = await self._charge(hand)
        await self._stewards.stop(hand.order_id)
        await self._plane.give_back(hand.order_id, charge.held)
        await erase_stale(self._board, hand.order_id)

    def _ask(self, transaction: Transaction, now: datetime, hand: Hand, said: BridgeIntent) -> CallRow:
        row = read_call(transaction, self._board, said.call_id)
        over = row is not None and row.stage in (CallStage.CARD, CallStage.REFUSED) and _is_of(row, hand)
        if not over:  # what was said already is said again, though the slot was given back meanwhile
            require_held(transaction, self._board, hand, now)
        if row is None or not _is_of(row, hand):
            raise _unknown(hand, said.call_id)
        if said.arguments_sha256 != row.call.arguments_sha256:
            raise CallSettled(
                f"The bridge is about to use other arguments than {said.call_id} has; nothing was allowed. Use the "
                "arguments as they were given, and name their sha256.",
                call_id=said.call_id,
            )
        move_call(transaction, self._board, said.call_id, CallMove.ASK, {})
        return read_call(transaction, self._board, said.call_id) or row

    def _tell(self, transaction: Transaction, now: datetime, hand: Hand, call_id: CallId) -> datetime:
        """Return until when the bridge may begin; it is kept before it is told: nobody else gets leave before."""
        charge = require_held(transaction, self._board, hand, now)
        row = read_call(transaction, self._board, call_id)
        if row is None or row.stage is not CallStage.ALLOWED or row.closed:
            raise _unknown(hand, call_id) if row is None else _settled(row)
        until = charge.held.lease.expires_at
        transaction.run(self._board.calls.move, int(row.stage), leave_to(until), call_id)
        return until

    def _keep(self, transaction: Transaction, now: datetime, hand: Hand, said: BridgeReceipt) -> BridgeTaken:
        require_held(transaction, self._board, hand, now)
        row = read_call(transaction, self._board, said.call_id)
        if row is None or not _is_of(row, hand):
            raise _unknown(hand, said.call_id)
        if said.outcome is CallOutcome.NOT_FOUND and row.call.kind is not CallKind.LOOK_UP:
            raise InvalidArguments(f"{said.call_id} is no look-up: it was done or failed, and is not `not_found`.")
        if row.stage not in (CallStage.ALLOWED, CallStage.ANSWERED):
            raise _settled(row)
        move_call(transaction, self._board, said.call_id, CallMove.ANSWER, _without_secrets(said))
        return BridgeTaken(call_id=said.call_id, again=row.stage is CallStage.ANSWERED)

    async def _charge(self, hand: Hand) -> Charge:
        return await self._board.write(lambda tx, now: require_held(tx, self._board, hand, now))

    async def _report(self, hand: Hand) -> StatusReport | None:
        """Return how the order ended that was in this hand; None while it has not, or never was there."""
        table = cluster_orders
        query = select(table.c.report, table.c.slot).where(
            table.c.order_id == hand.order_id, table.c.stage == int(Stage.REPORTED), table.c.runner == hand.runner,
            table.c.fence == hand.fence,
        )  # fmt: skip
        rows = await self._board.store.reader.rows(query)
        if rows and slot_id(hand.node_id, rows[0][1]) == hand.slot_id:
            return StatusReport.read(json.loads(bytes(rows[0][0])))
        return await self._told_by_stream(hand)

    async def _told_by_stream(self, hand: Hand) -> StatusReport | None:
        """Return the report on an order of which the queue knows nothing any more, where calls were laid before it."""
        reader = self._board.store.reader
        in_queue = select(cluster_orders.c.seq).where(cluster_orders.c.order_id == hand.order_id)
        if await reader.rows(in_queue) or not await self._calls(hand):
            return None
        return (await open_view(self._board.store.ledger, str(hand.order_id))).report

    async def _parked(self, hand: Hand) -> StatusReport | None:
        """Return that the order waits for people, where this stay in the slot ended with a card and nothing is open."""
        calls = await self._calls(hand)
        asked = [str(each) for row in calls if row.stage is CallStage.CARD for each in _listed(row.said["waiting_for"])]
        if not asked or any(row.stage in _TO_DO for row in calls):
            return None
        waiting_for = tuple(asked_id(each) for each in dict.fromkeys(asked))
        return StatusReport(order_id=hand.order_id, state=OrderState.WAITING, waiting_for=waiting_for)

    async def _to_do(self, hand: Hand, skip: Sequence[CallId]) -> CallRow | None:
        """Return the oldest call of the order that the bridge is to go on with."""
        rows = [row for row in await self._calls(hand) if row.stage in _TO_DO and not row.closed]
        return next((row for row in rows if row.call_id not in skip), None)

    async def _calls(self, hand: Hand) -> list[CallRow]:
        """Return the calls that were laid into this hand, oldest first."""
        table = cluster_calls
        query = (
            select(*(table.c[name] for name in ("call_id", "order_id", "fence", "stage", "call", "said")))
            .where(table.c.order_id == hand.order_id, table.c.fence == hand.fence)
            .order_by(table.c.since, table.c.call_id)
        )
        rows = [CallRow.from_row(row) for row in await self._board.store.reader.rows(query)]
        return [row for row in rows if _is_of(row, hand)]

    async def _until_given_back(self, hand: Hand, until: float) -> None:
        """Return once the order waits in the ledger: a card that is told of can be decided."""
        table = cluster_orders
        query = select(table.c.seq).where(
            table.c.order_id == hand.order_id, table.c.stage == int(Stage.RUNNING), table.c.fence == hand.fence
        )

        def look(connection: Connection) -> bool:
            return connection.execute(query).first() is not None

        loop = asyncio.get_running_loop()
        while loop.time() < until and await self._board.store.reader.in_thread(look):
            await self._board.rest()


def _is_of(row: CallRow, hand: Hand) -> bool:
    """Whether a call was laid into this hand."""
    was = row.order_id, row.runner, row.slot_id, row.fence
    return was == (hand.order_id, hand.runner, hand.slot_id, hand.fence)


def _without_secrets(said: BridgeReceipt) -> dict[str, Json]:
    """Return what is kept of a receipt: as events do, it holds no secret that is known; contents of files stay."""
    told = said.to_json()
    return {**told, **{name: redact(told.get(name)) for name in ("output", "message")}}


def _require_readable(said: BridgeReceipt) -> None:
    for file in said.files:
        try:
            base64.b64decode(file.content_base64, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidArguments(f"The content of {file.name} is not base64.", file=file.name) from None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _unknown(hand: Hand, call_id: CallId) -> CallSettled:
    return CallSettled(f"{hand.order_id} has no {call_id} under this fence. Ask what is next.", call_id=call_id)


def _settled(row: CallRow) -> CallSettled:
    stands = "in doubt" if row.closed else row.stage.name.lower()
    return CallSettled(
        f"{row.call_id} is {stands}: nothing more is to be done or said about it. Ask what is next.",
        call_id=row.call_id, stage=stands,
    )  # fmt: skip
