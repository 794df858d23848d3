"""A place to work, lent for a while."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.base import Contract
from contracts.ids import NodeId, OrderId, SlotId


class SlotAllocation(Contract):
    """A slot lent to one task order until the lease runs out."""

    slot_id: SlotId
    """The slot."""
    node_id: NodeId
    """The node it is on."""
    order_id: OrderId
    """Who has it."""
    labels: tuple[str, ...] = ()
    """What the node offers."""
    driver: str
    """How the slot is isolated: `bubblewrap`, `rlimits+landlock`, `rlimits`, `docker`."""
    cannot_enforce: tuple[str, ...] = ()
    """Limits this driver cannot hold, by name; an order that needs one is not placed here."""
    lease_expires_at: AwareDatetime
    """UTC. From this moment on the slot may be lent to another order."""
    fence: int = Field(ge=1)
    """Grows with each lease of this slot; a write with a smaller number is refused."""
