"""The EvidencePackage of an order: made of what the ledger shows, sealed, and proven later without the slot."""

from cluster.evidence.examining import ItemExamined, Kept, OrderEvidence, Seal, Shown, bytes_of, examine
from cluster.evidence.items import events_of, items_of
from cluster.evidence.package import evidence_id_of, packages_of, seal, verify
from cluster.evidence.sealing import with_evidence

__all__ = [
    "ItemExamined",
    "Kept",
    "OrderEvidence",
    "Seal",
    "Shown",
    "bytes_of",
    "events_of",
    "evidence_id_of",
    "examine",
    "items_of",
    "packages_of",
    "seal",
    "verify",
    "with_evidence",
]
