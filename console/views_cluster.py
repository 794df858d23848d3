"""What the faces show of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from contracts import ExecutionId, NodeId, OrderId


class NodeState(StrEnum):
    """How a node stands."""

    OPEN = "open"
    CORDONED = "cordoned"
    DRAINING = "draining"
    LOST = "lost"
    """No process of it gave a sign of life in time."""


class PlaceState(StrEnum):
    """Where an order stands on its way through the cluster."""

    QUEUED = "queued"
    ASSIGNED = "assigned"
    """It has a slot; its node has not begun yet."""
    RUNNING = "running"
    REPORTED = "reported"
    """It is over; whoever submitted it has not picked the report up yet."""
    LEFT = "left"
    """Whoever submitted it died before it got a slot."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node."""

    node_id: NodeId
    state: NodeState
    labels: tuple[str, ...]
    driver: str
    cannot_enforce: tuple[str, ...]
    slots: int
    taken: int
    processes: int
    """That serve it now."""
    beat_at: datetime | None
    """Last sign of life; None for a lost node."""
    pulled_at: datetime | None
    """When it last looked for orders."""
    warm: frozenset[int] = frozenset()
    """Free slots that are kept ready for the next orders, by number."""
    closed_by: str | None = None
    """Who closed it: the system user, or the name of the token; None while it is open."""
    closed_via: str | None = None
    """From where: `cli`, or `api from ADDRESS`."""
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OrderRow:
    """One order that waits, or that holds a slot."""

    order_id: OrderId
    execution_id: ExecutionId | None
    """None until the order's stream tells."""
    organisation: str | None
    state: PlaceState
    priority: int
    node_id: NodeId | None
    slot: int | None
    since: datetime | None
    """Since when it stands there; None where only the lease of its slot tells of it."""
    losses: int
    """Slots it lost."""


class QueuedFor(StrEnum):
    """What an order that waits in the queue waits for."""

    SLOT = "slot"
    """A slot: all that fit are taken."""
    NODE = "node"
    """A node that takes orders: every one that fits is cordoned or drains."""
    LABELS = "labels"
    """A node that offers what it wants."""
    BRIDGE = "bridge"
    """A bridge that carries out what it calls."""
    LIMITS = "limits"
    """A node whose sandbox holds what it needs."""


@dataclass(frozen=True, slots=True)
class QueuedOrder:
    """An order that waits for a slot, and why."""

    order_id: OrderId
    execution_id: ExecutionId
    place: str
    """`employee/step` that gave it, or the employee whose order it is."""
    since: datetime
    waits_for: QueuedFor
    missing: tuple[str, ...] = ()
    """Labels, capabilities or limits, by name; none where it is a slot or an open node that is missing."""
    ahead: int = 0
    """Orders that come before it and want a slot of the same nodes."""


@dataclass(frozen=True, slots=True)
class HostsRow:
    """That no host of employees started so far, and that it is tried again."""

    tried: int
    tries: int
    why: str


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot of a node."""

    node_id: NodeId
    slot: int
    order_id: OrderId | None = None
    """None while it is free."""
    execution_id: ExecutionId | None = None
    organisation: str | None = None
    since: datetime | None = None
    warm: bool = False
    """Whether it is free, and kept ready for the next order."""


@dataclass(frozen=True, slots=True)
class ClusterNumbers:
    """How the cluster stands at a moment, as numbers."""

    at: datetime
    nodes: Sequence[NodeRow]
    orders: Mapping[PlaceState, int]
    """Every state, with how many orders of the queue stand there."""
    most_queued: int
    oldest_wait_s: float
    """0 while nobody waits."""
    leases: Mapping[str, int]
    """Kind of what is held → how many live leases."""
    guards: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Guard, model and tool → how often it fired since the ledger began, in whichever process."""
    occasions: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Occasion, model and tool → how often guards could have fired."""
