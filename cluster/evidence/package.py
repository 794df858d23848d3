"""Sealing what was done and seen, and proving later that nothing was changed, added or left out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cluster.evidence.items import items_of
from contracts import Event, EvidenceId, EvidenceItem, EvidencePackage, OrderId, TaskOrder
from runtime.canonical import sha256


def evidence_id_of(order: OrderId) -> EvidenceId:
    """Return the id of the order's package, which bears the order's ULID; also the name of its stream.

    An order that was opened again and did more is sealed again there; the last package counts.
    """
    return EvidenceId(f"evidence/{order.ulid}")


def packages_of(events: Sequence[Event]) -> list[EvidencePackage]:
    """Return the packages in an evidence stream, oldest first."""
    return [
        EvidencePackage.read(package)
        for event in events
        if isinstance(package := (event.data or {}).get("package"), dict)
    ]


def seal(order: TaskOrder, items: Sequence[EvidenceItem], at: datetime) -> EvidencePackage:
    """Return the sealed package of an order."""
    return EvidencePackage(
        evidence_id=evidence_id_of(order.order_id),
        order_id=order.order_id,
        execution_id=order.execution_id,
        employee=order.employee,
        items=tuple(items),
        seal=seal_of(items),
        sealed_at=at,
        count=len(items),
    )


def seal_of(items: Sequence[EvidenceItem]) -> str:
    """Return the sha256 over the canonical JSON of all items."""
    return sha256([item.to_json() for item in items])


def verify(package: EvidencePackage, events: Sequence[Event] | None = None) -> list[str]:
    """Return what is wrong with a package, empty when it is whole.

    With `events`, those of the order and its files, every item must also be the one that the ledger recorded.
    """
    faults = []
    if package.count != len(package.items):
        faults.append(f"{package.evidence_id} was sealed with {package.count} items and holds {len(package.items)}.")
    if package.seal != seal_of(package.items):
        faults.append(f"The items of {package.evidence_id} are not those that were sealed.")
    if events is not None and items_of(events) != package.items:
        faults.append(f"The items of {package.evidence_id} are not those in the stream of {package.order_id}.")
    return faults
