"""What was done and seen, so that an outcome can be judged without believing the agent."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from contracts.base import CapabilityName, Contract, Json, Name, Sha256, StepId
from contracts.ids import EvidenceId, ExecutionId, OrderId


class EvidenceKind(StrEnum):
    """What an item shows."""

    CALL = "call"
    """A capability was called: arguments in, result out."""
    FILE = "file"
    """A file was made or read."""
    SCREENSHOT = "screenshot"
    """A page was seen."""
    ROWS = "rows"
    """Rows were read: the query, how many rows, from which version of the data."""
    RECEIPT = "receipt"
    """An effect was confirmed by the other side."""


class EvidenceItem(Contract):
    """One thing that was done or seen."""

    kind: EvidenceKind
    """What it shows."""
    at: AwareDatetime
    """When, UTC."""
    step: StepId
    """The step it happened in."""
    capability: CapabilityName | None = None
    """What was called."""
    sha256: Sha256
    """Of the exact bytes of the result, file, screenshot or receipt; its address in the store where it was kept."""
    facts: dict[str, Json] = {}
    """For people and checks: `query_sha256`, `data_sha256`, `row_count`, `arguments_sha256`, `seconds`, `name`, …"""


class EvidencePackage(Contract):
    """All evidence of one order, sealed."""

    evidence_id: EvidenceId
    """Its name."""
    order_id: OrderId
    """The order it is about."""
    execution_id: ExecutionId
    """The execution that order belongs to."""
    employee: Name
    """Who did the work."""
    items: tuple[EvidenceItem, ...]
    """In the order they happened."""
    seal: Sha256
    """sha256 over the canonical JSON of all items."""
    sealed_at: AwareDatetime
    """UTC."""
    count: int = Field(ge=0)
    """How many items were sealed."""
