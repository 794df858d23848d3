"""What the HTTP API gives of the cluster."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.views_cluster import NodeRow, NodeState, OrderRow, PlaceState, QueuedFor, QueuedOrder, SlotRow
from contracts import ExecutionId, Name, NodeId, OrderId

NODE = "node/01JB0000000000000000000NDE"


class Node(ApiModel):
    """One node."""

    node_id: NodeId = Field(examples=[NODE])
    """Its id; the part after the slash stands in addresses."""
    state: NodeState
    """Whether it takes orders."""
    labels: tuple[str, ...] = ()
    """What it offers to orders that ask for labels."""
    driver: str
    """How its slots are isolated."""
    cannot_enforce: tuple[str, ...] = ()
    """Limits that the driver cannot hold there."""
    slots: int
    """How many it has."""
    taken: int
    """How many are held."""
    processes: int
    """Processes that serve it now."""
    beat_at: AwareDatetime | None = None
    """Last sign of life; absent for a lost node."""
    pulled_at: AwareDatetime | None = None
    """When it last looked for orders."""
    closed_by: str | None = None
    """Who closed it: the name of a token, or a system user on the command line; absent while it is open."""
    closed_via: str | None = None
    """From where it was closed: `cli`, or `api from ADDRESS`."""
    closed_at: AwareDatetime | None = None
    """When it was closed."""

    @classmethod
    def of(cls, row: NodeRow) -> Node:
        """Return the node as it is given."""
        return cls(
            node_id=row.node_id, state=row.state, labels=row.labels, driver=row.driver,
            cannot_enforce=row.cannot_enforce, slots=row.slots, taken=row.taken, processes=row.processes,
            beat_at=row.beat_at, pulled_at=row.pulled_at, closed_by=row.closed_by, closed_via=row.closed_via,
            closed_at=row.closed_at,
        )  # fmt: skip


class NodeList(ApiModel):
    """The nodes there are, and for an hour those that were lost."""

    nodes: tuple[Node, ...]
    """By id."""


class Slot(ApiModel):
    """One slot of a node."""

    node_id: NodeId = Field(examples=[NODE])
    """Its node."""
    slot: int
    """Its number there."""
    taken: bool
    """Whether an order holds it."""
    warm: bool = False
    """Whether it is free, and kept ready for the next order."""
    order_id: OrderId | None = None
    """Which; absent for a free slot, and for orders that may not be seen."""
    execution_id: ExecutionId | None = None
    """The execution of that order."""
    since: AwareDatetime | None = None
    """Since when, where the queue tells."""

    @classmethod
    def of(cls, row: SlotRow, *, seen: bool) -> Slot:
        """Return the slot as it is given to somebody who may, or may not, see its order."""
        shown = {"order_id": row.order_id, "execution_id": row.execution_id} if seen else {}
        return cls(
            node_id=row.node_id, slot=row.slot, taken=row.order_id is not None, warm=row.warm, since=row.since, **shown
        )


class SlotList(ApiModel):
    """Every slot of every node that lives."""

    slots: tuple[Slot, ...]
    """By node and number."""


class Place(ApiModel):
    """Where an order stands on its way through the cluster."""

    order_id: OrderId = Field(examples=["order/01JB0000000000000000000RDR"])
    """The order."""
    execution_id: ExecutionId | None = None
    """Its execution."""
    organisation: Name | None = None
    """Whose it is."""
    state: PlaceState
    """Where it stands."""
    priority: int = 0
    """Orders of a greater number get a slot first."""
    node_id: NodeId | None = None
    """The node it is on; absent while it waits."""
    slot: int | None = None
    """The number of its slot there."""
    since: AwareDatetime | None = None
    """Since when it stands there, where the queue tells."""
    losses: int = 0
    """Slots it lost."""

    @classmethod
    def of(cls, row: OrderRow) -> Place:
        """Return the order as it is given."""
        return cls(
            order_id=row.order_id, execution_id=row.execution_id, organisation=row.organisation, state=row.state,
            priority=row.priority, node_id=row.node_id, slot=row.slot, since=row.since, losses=row.losses,
        )  # fmt: skip


class OrderInLine(ApiModel):
    """An order of an execution that waits for a slot, and why."""

    order_id: OrderId = Field(examples=["order/01JB0000000000000000000RDR"])
    """The order."""
    place: str = Field(examples=["cancellation-desk/measure"])
    """The employee and step that gave it, or the employee whose order it is."""
    since: AwareDatetime
    """Since when."""
    waits_for: QueuedFor
    """What."""
    missing: tuple[str, ...] = Field(default=(), examples=[["browser"]])
    """The labels, capabilities or limits that no node has; none where it waits for a slot or an open node."""
    ahead: int = 0
    """Orders that come before it and want a slot of the same nodes."""

    @classmethod
    def of(cls, row: QueuedOrder) -> OrderInLine:
        """Return the order as it is given."""
        return cls(
            order_id=row.order_id, place=row.place, since=row.since, waits_for=row.waits_for, missing=row.missing,
            ahead=row.ahead,
        )  # fmt: skip


class OrderList(ApiModel):
    """The queue, and what is in the slots."""

    waiting: int
    """Orders that wait for a slot, those of other organisations counted as well."""
    orders: tuple[Place, ...]
    """Those in slots, then those that wait, as they stand in line."""
