"""The rows of calls that lie before bridges, and the statements about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Self

from sqlalchemy import ClauseElement, Dialect, bindparam, insert, select, update

from cluster.foreign.stages import CallStage
from contracts import BridgeCall, CallId, Json, NodeId, OrderId, SlotId
from runtime.canonical import to_bytes
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.schema import cluster_calls as calls
from runtime.ledger.statements import compiled

_COLUMNS = ("call_id", "order_id", "fence", "stage", "call", "said")


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call that lies before a bridge."""

    call_id: CallId
    order_id: OrderId
    fence: int
    stage: CallStage
    call: BridgeCall
    node_id: NodeId
    runner: str
    """The session of the bridge that it lies before."""
    slot_id: SlotId
    """In which slot of it, under `fence`."""
    said: Mapping[str, Json]
    """A verdict, a receipt, or for what is allowed how long its bridge may begin (`leave_to`)."""

    @property
    def stay(self) -> tuple[SlotId, int]:
        """Which stay of its order in a slot it belongs to."""
        return self.slot_id, self.fence

    def runs_until(self, now: datetime) -> datetime | None:
        """Return when the leave ends that its bridge was told of and that still runs; None when none does."""
        until = self.said.get("until") if self.stage is CallStage.ALLOWED else None
        moment = time_from_number(until) if isinstance(until, int) else None
        return moment if moment is not None and moment >= now else None

    @property
    def closed(self) -> bool:
        """Whether no more leave is told of it, because somebody found out, or asked, whether it happened."""
        return self.stage is CallStage.ALLOWED and self.said.get("closed") is True

    def without_arguments(self) -> bytes:
        """Return what is stored of it once nobody is told any more what to do: their hash stays, they do not."""
        call = self.call.model_copy(update={"arguments": {}})
        return call_to(call, self.node_id, self.runner, self.slot_id)

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what a row says."""
        call_id, order_id, fence, stage, call, said = row
        told = json.loads(bytes(call))
        return cls(
            CallId(call_id), OrderId(order_id), fence, CallStage(stage), BridgeCall.read(told["call"]),
            NodeId(told["node"]), told["runner"], SlotId(told["slot"]), {} if said is None else json.loads(bytes(said)),
        )  # fmt: skip


def call_to(call: BridgeCall, node_id: NodeId, runner: str, slot_id: SlotId) -> bytes:
    """Return what is stored of a call."""
    return to_bytes({"call": call.to_json(), "node": node_id, "runner": runner, "slot": slot_id})


def leave_to(until: datetime | None, *, closed: bool = False) -> bytes:
    """Return what is stored of a leave: when the last one that was told ends, and whether none is told any more."""
    return to_bytes({"until": None if until is None else time_to_number(until), "closed": closed})


def key_of(key: str) -> str:
    """Return what an idempotency key is found by."""
    return sha256(key.encode()).hexdigest()


class CallStatements:
    """SQL text of each statement, compiled once for the database at hand."""

    def __init__(self, dialect: Dialect) -> None:
        def made(statement: ClauseElement, *names: str) -> str:
            return compiled(dialect, statement, *names)

        columns = [calls.c[name] for name in _COLUMNS]
        one = calls.c.call_id == bindparam("c")
        self.one = made(select(*columns).where(one), "c")
        self.of_key = made(
            select(*columns)
            .where(calls.c.order_id == bindparam("o"), calls.c.key_sha256 == bindparam("k"))
            .order_by(calls.c.since, calls.c.call_id),
            "o", "k",
        )  # fmt: skip
        self.of_order = made(select(*columns).where(calls.c.order_id == bindparam("o")), "o")
        names = ("call_id", "order_id", "key_sha256", "fence", "stage", "since", "call")
        self.put = made(insert(calls).values({name: bindparam(name) for name in names}).inline(), *names)
        self.move = made(
            update(calls).where(one).values(stage=bindparam("stage"), said=bindparam("said")), "stage", "said", "c"
        )
        self.erase = made(update(calls).where(one).values(call=bindparam("call")), "call", "c")
