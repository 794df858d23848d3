"""From facts to rows and back, and the hash that chains a row to the one before it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from contracts import Event, EventId, ExecutionId
from runtime.canonical import to_bytes

NO_CHAIN = ""
"""What stands before the first event of a stream."""


class EventRow(NamedTuple):
    """One row of the table `events`, in the order of its columns."""

    position: int
    stream: str
    version: int
    id: str
    type: str
    time: str
    source: str
    organisation: str
    execution_id: str | None
    trace_id: str | None
    payload_sha256: str
    chain_sha256: str


class HeadRow(NamedTuple):
    """One row of the table `streams`, in the order of its columns."""

    stream: str
    kind: str
    organisation: str
    first_position: int
    version: int
    chain_sha256: str
    last_type: str
    updated_at: str


def link(previous: str, row: EventRow) -> str:
    """Return the chain hash of `row`: over the one before it in its stream and every other stored column."""
    return hashlib.sha256(to_bytes([previous, *row[:-1]])).hexdigest()


def kind_of(stream: str) -> str:
    """Return the kind of a stream: `order` of `order/01J9…`."""
    return stream.partition("/")[0]


def time_to_text(moment: datetime) -> str:
    """Return the moment in UTC in 27 characters that sort as the moments do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_from_text(text: str) -> datetime:
    """Return the moment that `time_to_text` wrote."""
    return datetime.fromisoformat(text)


def to_event(row: EventRow, payload: bytes | None) -> Event:
    """Return the row as an event, with data that nobody else holds; without data when the payload was erased."""
    data: dict[str, Any] | None = None if payload is None else json.loads(payload)
    return Event.model_construct(
        id=EventId(row.id),
        source=row.source,
        type=row.type,
        subject=row.stream,
        time=time_from_text(row.time),
        data=data,
        organisation=row.organisation,
        execution_id=None if row.execution_id is None else ExecutionId(row.execution_id),
        trace_id=row.trace_id,
        stream_version=row.version,
        position=row.position,
        payload_sha256=row.payload_sha256,
        chain_sha256=row.chain_sha256,
    )
