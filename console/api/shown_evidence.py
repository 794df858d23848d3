"""The evidence of an order as the HTTP API gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.api.shown import EXECUTION
from contracts import EvidenceId, EvidenceItem, ExecutionId, Name, OrderId, OrderState

if TYPE_CHECKING:
    from cluster.evidence import ItemExamined, OrderEvidence

ORDER = "order/01JB0000000000000000000ORD"


class EvidenceItemShown(ApiModel):
    """One thing that was done or seen."""

    number: int = Field(ge=1)
    """Its place; it stands in the address of its bytes."""
    item: EvidenceItem
    """What it shows."""
    bytes: str = Field(examples=["stored"])
    """Where its bytes are: `stored`, `ledger` (short, in the event), or only their `hash` was kept."""
    href: str | None = None
    """Where to get the bytes, if they were kept."""
    fault: str | None = None
    """What is wrong with them."""

    @classmethod
    def of(cls, each: ItemExamined, order_id: OrderId) -> EvidenceItemShown:
        """Return an item of that order."""
        href = f"/api/v1/orders/{order_id.ulid}/evidence/{each.number}" if each.kept.value != "hash" else None
        return cls(number=each.number, item=each.item, bytes=each.kept.value, href=href, fault=each.fault)


class EvidenceShown(ApiModel):
    """All evidence of one order, hashed again when it was asked for."""

    order_id: OrderId = Field(examples=[ORDER])
    """The order."""
    execution_id: ExecutionId = Field(examples=[EXECUTION])
    """The execution it belongs to."""
    employee: Name
    """Who carried it out."""
    state: OrderState
    """How the order stands."""
    sealed: str = Field(examples=["sealed"])
    """`sealed`, `open` (it goes on), `none` (it had no slot), or `missing` (it ended and was never sealed)."""
    evidence_id: EvidenceId | None = None
    """The sealed package."""
    seal: str | None = None
    """sha256 over all its items."""
    sealed_at: AwareDatetime | None = None
    """UTC."""
    items: tuple[EvidenceItemShown, ...] = ()
    """In the order they happened."""
    left_in_slot: dict[str, str] = Field(default={})
    """What could not leave the slot: path → why."""
    erased: int = 0
    """Events that were erased for good, so that what they showed cannot be compared."""
    faults: tuple[str, ...] = ()
    """Whatever is not as it was sealed; empty where all is whole."""

    @classmethod
    def of(cls, found: OrderEvidence) -> EvidenceShown:
        """Return what was found."""
        package, order = found.package, found.order
        return cls(
            order_id=order.order_id,
            execution_id=order.execution_id,
            employee=order.employee,
            state=found.state,
            sealed=found.seal.value,
            evidence_id=package.evidence_id if package else None,
            seal=package.seal if package else None,
            sealed_at=package.sealed_at if package else None,
            items=tuple(EvidenceItemShown.of(each, order.order_id) for each in found.items),
            left_in_slot=dict(found.left),
            erased=found.erased,
            faults=found.faults,
        )
