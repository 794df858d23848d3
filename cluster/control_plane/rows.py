"""Rows of the control plane, and what they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from cluster.control_plane.matcher import Wants
from cluster.control_plane.stages import Stage
from cluster.slot import Node, lease_name
from contracts import NodeId, OrderId, TaskOrder
from runtime.canonical import to_bytes
from runtime.executor.holder import is_gone

_KNOWN = 1_024
WARM = ("warm/", "warm0")
"""Between these lie the names of the leases that say which slots are kept ready."""


@dataclass(frozen=True, slots=True)
class Runner:
    """A process that carries out orders on a node; times are microseconds since 1970."""

    name: str
    node: str
    for_all: int
    beat_at: int
    pulled_at: int


@dataclass(frozen=True, slots=True)
class InHand:
    """An order of the queue, with the slot it has; `node` and `runner` are empty, `slot` is -1 without one."""

    order_id: OrderId
    stage: Stage
    submitter: str
    runner: str
    node: str
    slot: int
    fence: int
    losses: int
    since: int = 0
    report: bytes | None = None

    @property
    def lease_name(self) -> str:
        """The lease of its slot; empty without one."""
        return lease_name(NodeId(self.node), self.slot) if self.node else ""

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what a row of those in hand says."""
        order_id, stage, *others = row
        return cls(OrderId(order_id), Stage(stage), *others)

    @classmethod
    def from_order(cls, order_id: str, row: Sequence[Any]) -> Self:
        """Return what the row of one order says."""
        _, stage, submitter, runner, node, slot, fence, losses, report = row
        stored = None if report is None else bytes(report)
        return cls(OrderId(order_id), Stage(stage), submitter, runner, node, slot, fence, losses, report=stored)


def warm_slots(rows: Iterable[Sequence[Any]]) -> dict[str, dict[int, str]]:
    """Return which slots are kept ready, of each node, and by which process; of one that is gone, none is.

    Args:
        rows: name, holder and fence of the leases `WARM`.
    """
    found: dict[str, dict[int, str]] = {}
    for name, holder, _ in rows:
        if not is_gone(holder):
            _, node, index = name.split("/")
            found.setdefault(f"{NodeId.KIND}/{node}", {})[int(index)] = holder
    return found


class Decoder:
    """Remembers what was decoded: nodes are few, and orders that want the same are many."""

    def __init__(self) -> None:
        self.known_wants: dict[str, Wants] = {}
        self.node = lru_cache(maxsize=_KNOWN)(node_from)

    def remember(self, key: str, data: bytes) -> Wants:
        """Return what the order in `data` wants, and keep it under its key."""
        if len(self.known_wants) >= _KNOWN:
            self.known_wants.clear()
        wants = self.known_wants[key] = wants_from(data)
        return wants


def node_to(node: Node) -> bytes:
    """Return what is stored of a node."""
    return to_bytes(
        {
            "slots": node.slots,
            "labels": list(node.labels),
            "driver": node.driver,
            "cannot_enforce": list(node.cannot_enforce),
        }
    )


def node_from(node_id: str, facts: bytes) -> Node:
    """Return the node that `node_to` stored."""
    told = json.loads(facts)
    return Node(
        NodeId(node_id), told["slots"], tuple(told["labels"]), told["driver"], tuple(told["cannot_enforce"])
    )  # fmt: skip


def order_to(order: TaskOrder, home: NodeId | None) -> bytes:
    """Return what is stored of an order."""
    return to_bytes({"order": order.to_json(), "home": home})


def wants_from(data: bytes) -> Wants:
    """Return what the order that `order_to` stored wants of a slot."""
    told = json.loads(data)
    order, home = told["order"], told["home"]
    return Wants(
        tuple(order.get("labels", ())), tuple(order.get("needs", ())), None if home is None else NodeId(home)
    )  # fmt: skip


def order_from(data: bytes) -> TaskOrder:
    """Return the order that `order_to` stored."""
    return TaskOrder.read(json.loads(data)["order"])
