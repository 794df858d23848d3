"""One fact of the ledger, with CloudEvents 1.0 attributes."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.base import Contract, Json, Name, Sha256
from contracts.ids import EventId, ExecutionId


class Event(Contract):
    """One stored fact: CloudEvents attributes, and its place in the ledger."""

    specversion: str = Field(default="1.0", pattern=r"^1\.0$")
    """CloudEvents version."""
    id: EventId
    """Unique; consumers deduplicate by it."""
    source: str = Field(min_length=1)
    """`/organisation/NAME` and what acted in it."""
    type: str = Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=100)
    """What happened, in the past tense: `step.finished`."""
    subject: str
    """The stream: `order/01J9…`."""
    time: AwareDatetime
    """When, UTC."""
    datacontenttype: str = "application/json"
    """Form of `data`."""
    data: dict[str, Json] | None = None
    """The facts; absent when they were erased."""
    organisation: Name
    """Whose fact this is."""
    execution_id: ExecutionId | None = None
    """The execution it belongs to."""
    trace_id: str | None = None
    """One id from the request to the slot."""
    stream_version: int = Field(ge=1)
    """Its place in its stream, from 1, without gaps."""
    position: int = Field(ge=1)
    """Its place in the whole ledger, without gaps, in the order of commits."""
    payload_sha256: Sha256
    """Hash of the exact stored bytes of the payload."""
    chain_sha256: Sha256
    """Hash over the one before it in its stream and this one."""
