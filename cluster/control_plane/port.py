"""What the control plane promises; `tests/cluster/control_plane` says it in code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from cluster.control_plane.stages import Closed, Stage
from cluster.slot import HeldSlot, Node
from contracts import ExecutionId, NodeId, OrderId, StatusReport, TaskOrder
from runtime.errors import SiliconError
from runtime.ledger.port import Lease


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full the nodes that live are."""

    slots: int
    taken: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """An order of the queue that this process is to carry out now, in the slot that it holds for it."""

    order_id: OrderId
    held: HeldSlot
    order: TaskOrder | None
    """None for an order that this process submitted, and has."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What became of an order that was put into the queue."""

    accepted: Sequence[Accepted] = ()
    """What this process is to carry out now."""
    report: StatusReport | None = None
    """How it ended, when it was done already."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at the queue found for this process."""

    accepted: Sequence[Accepted] = ()
    reports: Sequence[StatusReport] = ()
    """Reports on what it submitted; the queue has forgotten them."""
    moving: frozenset[OrderId] = frozenset()
    """Orders it carries out that are to go on elsewhere from their next step on."""


@dataclass(frozen=True, slots=True)
class Closer:
    """Whoever closes or opens a node, for the record."""

    name: str
    """The system user, or the name of the token."""
    via: str
    """From where: `cli`, or `api from ADDRESS`."""
    principal: str | None = None
    """Id of the token; None on the command line."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What the stream of a node that is closed tells."""

    by: Closer
    at: datetime


@dataclass(frozen=True, slots=True)
class NodeStanding:
    """A node as operators see it."""

    node: Node
    closed: Closed
    lost: bool
    """Whether no process of it gave a sign of life in time."""
    beat_at: datetime | None
    """Last sign of life; None when no process serves it."""
    pulled_at: datetime | None
    """When a process of it last looked for orders."""
    taken: int
    """Slots that are held."""
    runners: int
    """Processes that serve it and live."""
    warm: frozenset[int] = frozenset()
    """Free slots that are kept ready."""
    closing: Closing | None = None
    """Who closed it, and when; None while it is open."""


@dataclass(frozen=True, slots=True)
class OrderStanding:
    """An order of the queue, or in a slot."""

    order_id: OrderId
    execution_id: ExecutionId | None
    """None for one that went into its slot without a queue; its stream tells."""
    organisation: str | None
    """None likewise."""
    stage: Stage
    priority: int
    node_id: NodeId | None
    slot: int | None
    since: datetime | None
    """Since when it stands there; None where only the slot's lease tells of it."""
    losses: int
    """Slots it lost."""


class WaitFor(StrEnum):
    """What an order waits for."""

    SLOT = "slot"
    """A slot of nodes that would take it."""
    NODE = "node"
    """A node that takes orders: every one that fits is cordoned or drains."""
    LABELS = "labels"
    """No node that lives offers what it wants."""
    BRIDGE = "bridge"
    """No bridge that lives carries out what it calls."""
    LIMITS = "limits"
    """No sandbox of the nodes that would fit holds what it needs."""


@dataclass(frozen=True, slots=True)
class Wait:
    """An order that waits for a slot."""

    order_id: OrderId
    execution_id: ExecutionId
    place: str
    """`employee/step` of the order that gave it, or its own employee."""
    since: datetime
    what: WaitFor
    missing: tuple[str, ...]
    ahead: int
    """Orders that come before it and want a slot of the same nodes."""


class ControlPlane(Protocol):
    """Lends slots to orders. All it knows stands in SQL rows and leases; any process may drive it.

    An order waits for at most one order of each other execution of the same priority. A slot is taken while a live
    lease says so, from the moment it is assigned; an order that its process does not begin in time goes back.
    """

    @property
    def node(self) -> Node | None:
        """The node whose slots this process can use itself; None for one that only looks."""
        ...

    @property
    def runner(self) -> str:
        """The name of this process in the queue, a new one for each start."""
        ...

    async def beat(self, *, for_all: bool, pulled_at: datetime | None) -> None:
        """Say that this process lives, and when it last looked for orders; the first beat enters it.

        With `for_all` it carries out anybody's orders, else those that it submitted.
        """
        ...

    async def leave(self) -> None:
        """Say that this process serves no more. What it queued waits to be submitted again."""
        ...

    async def take(self, order: TaskOrder) -> HeldSlot | None:
        """Return a free slot of this process's own node when nobody waits for one; None leaves the order to the queue.

        It costs one lease and leaves no row.
        """
        ...

    async def enqueue(self, order: TaskOrder, *, leases: Sequence[Lease] = (), losses: int = 0) -> Entered:
        """Put an order into the queue, or take over its place there: submitted again, it is carried out once.

        Args:
            leases: must still be held; who lost them has no say about the order any more.
            losses: slots that it lost before.

        Raises:
            StaleWriter: a lease was lost.
            NoNodeFits: no node that lives has all its labels and holds all limits it needs.
            QueueFull: too many orders wait.
        """
        ...

    async def look(self) -> Seen:
        """Give back what was not begun or lost its slot, give out what is free; return what concerns this process."""
        ...

    async def finish(self, order_id: OrderId, held: HeldSlot, report: StatusReport) -> Sequence[Accepted]:
        """Keep the report of an order for whoever submitted it, give its slot back, and return what comes next here."""
        ...

    async def lose(self, order_id: OrderId, held: HeldSlot) -> Sequence[Accepted]:
        """Queue an order again whose slot was lost; after three slots it is reported as failed."""
        ...

    async def give_back(self, order_id: OrderId, held: HeldSlot) -> None:
        """Queue an order again, for another process: this one ends, or its node drains."""
        ...

    async def withdraw(self, order_id: OrderId, *, elsewhere_goes_on: bool = False) -> None:
        """Take an order that this process submitted out of the queue, and its slot from it.

        With `elsewhere_goes_on` one that another process carries out is left to it. One that somebody else submitted
        again meanwhile is queued for him when it is carried out here, else left alone.
        """
        ...

    async def stand_still(self, orders: Sequence[TaskOrder], for_s: float) -> Mapping[OrderId, SiliconError]:
        """Return which of these orders will not get a slot soon, and why; those that have one are not among them.

        That is NoNodeFits when no node that lives fits, and NoSlotFree when none that fits took an order for `for_s`.
        """
        ...

    async def renew(self, held: HeldSlot) -> HeldSlot:
        """Prolong the lease of a slot; raise StaleWriter when it belongs to somebody else now."""
        ...

    async def warm(self, ready: Collection[int]) -> Mapping[int, int]:
        """Say which free slots of the own node this process keeps ready now, and return those that it may.

        They are preferred for orders until it says otherwise, or gives no sign of life. The answer tells the fence of
        each slot's last lease, 0 where there was none: what is made ready now is for the lease that follows that one
        (`HeldSlot.follows`), for with any other somebody had the slot in between. Slots that another process keeps
        ready, or whose holder never gave them back, are not among them; none is when the node is closed.
        """
        ...

    async def release(self, held: HeldSlot) -> Sequence[Accepted]:
        """Give back a slot that was taken without the queue, and return what comes next here."""
        ...

    async def close(self, node_id: NodeId, closed: Closed, *, by: Closer) -> NodeStanding:
        """Open or close a node, and return it; who did is a fact of its stream, from the first time on.

        Raises:
            NotFound: there is no such node.
        """
        ...

    async def nodes(self) -> Sequence[NodeStanding]:
        """Return the nodes there are, and those that were there lately."""
        ...

    async def orders(self, limit: int | None = None, *, organisation: str | None = None) -> Sequence[OrderStanding]:
        """Return the orders that wait or hold a slot: those in slots, then as they stand in line, at most `limit`.

        With `organisation`, of those in the queue only its own; those that went into their slots without it are all
        there, for only their streams tell whose they are.
        """
        ...

    async def waits(self, executions: Collection[ExecutionId]) -> Sequence[Wait]:
        """Return which orders of these executions wait for a slot, for what, and how many come before.

        Of each execution the first twenty in line. It follows from the rows of the queue; nothing is recorded.
        """
        ...

    async def counts(self) -> tuple[Mapping[Stage, int], datetime | None]:
        """Return how many orders of the queue stand at each stage, and since when the one that waits longest does."""
        ...

    async def waiting(self) -> int:
        """Return how many orders wait for a slot."""
        ...

    async def require_room(self) -> None:
        """Return when the queue takes orders in; raise QueueFull when it does not."""
        ...

    async def occupancy(self) -> Occupancy:
        """Return how many slots there are and how many are taken."""
        ...
