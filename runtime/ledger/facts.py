"""What may be stored: checks an append before it reaches the writer, and turns its data into exact bytes.

This is also where secrets are taken out of every event, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from contracts import ExecutionId
from runtime.canonical import MAX_DEPTH, clean, clean_text, to_bytes
from runtime.ledger.port import Append, Cursor, CursorChange, NewEvent, Snapshot
from runtime.ledger.rows import new_event_id
from runtime.telemetry.redaction import redact

PAYLOAD_BYTES = 8 * 1024 * 1024
"""Larger data belongs in the blob store; servers limit what one statement may carry."""

_STREAM = re.compile(r"[a-z][a-z0-9_]{0,63}/[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*(?<!\s)")
_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Fact(NamedTuple):
    """An event that can be stored: it lacks only its place and chain."""

    id: str
    stored_id: bytes
    type: str
    payload: bytes
    """The exact bytes."""
    payload_sha256: str


@dataclass(slots=True)  # not frozen: that would take three times as long to make
class Prepared:
    """An append that can be stored."""

    append: Append
    time: str
    """The moment of all its events, as the chain covers it."""
    facts: list[Fact]
    size: int
    """Of all payloads, bytes."""


@dataclass(frozen=True, slots=True)
class PreparedCursor:
    """A cursor that can be saved."""

    name: str
    position: int
    expected: int | None
    data: bytes | None


def prepare(append: Append, time: str) -> Prepared:
    """Return the append ready to be stored; raise ValueError naming what cannot be stored, and why."""
    _check_addresses(append)
    facts, size = [], 0
    for event in append.events:
        payload = _payload(append.stream, event) if event.payload is None else event.payload
        size += len(payload)
        facts.append(Fact(*new_event_id(), event.type, payload, hashlib.sha256(payload).hexdigest()))
    return Prepared(append, time, facts, size)


def prepare_cursors(cursors: Sequence[Cursor | CursorChange]) -> list[PreparedCursor | CursorChange]:
    """Return the cursors ready to be saved; raise ValueError naming what cannot be saved, and why."""
    if len({cursor.name for cursor in cursors}) < len(cursors):
        raise ValueError("An append saves the position of one consumer twice.")
    return [_prepared(cursor) for cursor in cursors]


def _prepared(cursor: Cursor | CursorChange) -> PreparedCursor | CursorChange:
    if isinstance(cursor, Cursor):
        return prepare_cursor(cursor)
    _check_consumer(cursor.name)
    return cursor


def prepare_cursor(cursor: Cursor) -> PreparedCursor:
    """Return the cursor ready to be saved; raise ValueError for one that cannot be."""
    _check_consumer(cursor.name)
    if not 0 <= cursor.position < 2**63:
        raise ValueError(f"The consumer {cursor.name} cannot stand at {cursor.position}; positions start at 0.")
    if cursor.data is None:
        return PreparedCursor(cursor.name, cursor.position, cursor.expected, None)
    data = _payload(f"consumer/{cursor.name}", NewEvent("cursor.saved", cursor.data))
    return PreparedCursor(cursor.name, cursor.position, cursor.expected, data)


def prepare_snapshots(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Return the snapshots with their data compressed; raise ValueError for one that belongs to no stream."""
    prepared = []
    for snapshot in snapshots:
        _check_stream(snapshot.stream)
        if snapshot.version < 1:
            raise ValueError(f"A snapshot of {snapshot.stream} is of version {snapshot.version}; they start at 1.")
        prepared.append(Snapshot(snapshot.stream, snapshot.version, zlib.compress(snapshot.data, 1)))
    return prepared


def payload_of(stream: str, event: NewEvent) -> bytes:
    """Return the exact bytes of an event outside the chain; raise ValueError naming what cannot be stored, and why."""
    _check_stream(stream)
    return _payload(stream, event)


def ready_to_store(stream: str, event: NewEvent) -> NewEvent:
    """Return the event as it will be stored, checked and without secrets; raise ValueError for one that cannot be."""
    _check_stream(stream)
    return NewEvent(event.type, *_stored_form(stream, event))


def _check_addresses(append: Append) -> None:
    stream = append.stream
    _check_stream(stream)
    if not append.events:
        raise ValueError(f"An append to {stream} carries no events; it needs one at least.")
    if append.expected_version < 0:
        raise ValueError(f"An append to {stream} expects version {append.expected_version}; versions start at 0.")
    _check_origin(append.organisation, append.source)
    if append.execution_id is not None:
        _check_execution(append.execution_id)
    if append.trace_id is not None:
        _check_trace(append.trace_id)


# The same few names come again and again, so each is checked once.


@lru_cache(maxsize=4_096)
def _check_stream(stream: str) -> None:
    if len(stream) > 255 or not _STREAM.fullmatch(stream) or not _is_text(stream):
        raise ValueError(f"{stream!r} is not a stream: kind/name, at most 255 characters, no blanks around it.")


@lru_cache(maxsize=1_024)
def _check_origin(organisation: str, source: str) -> None:
    if len(organisation) > 64 or not _NAME.fullmatch(organisation):
        raise ValueError(f"An append names the organisation {organisation!r}, which is not a name.")
    if not 0 < len(source) <= 255 or not _is_text(source):
        raise ValueError(f"An append names the source {source!r}; it takes 1 to 255 characters.")


@lru_cache(maxsize=1_024)
def _check_execution(execution_id: str) -> None:
    ExecutionId(execution_id)


@lru_cache(maxsize=1_024)
def _check_trace(trace_id: str) -> None:
    if not 0 < len(trace_id) <= 64 or not _is_text(trace_id):
        raise ValueError(f"An append has the trace id {trace_id!r}; it takes 1 to 64 characters.")


@lru_cache(maxsize=1_024)
def _check_consumer(name: str) -> None:
    if not 0 < len(name) <= 255 or name != name.strip() or not _is_text(name):
        raise ValueError(f"{name!r} is not the name of a consumer: 1 to 255 characters, no blanks around it.")


@lru_cache(maxsize=1_024)
def _check_type(event_type: str) -> None:
    if len(event_type) > 100 or not _TYPE.fullmatch(event_type):
        raise ValueError(f"{event_type!r} is not a type of event; it looks like step.finished.")


def _payload(stream: str, event: NewEvent) -> bytes:
    return _stored_form(stream, event)[1]


def _stored_form(stream: str, event: NewEvent) -> tuple[Mapping[str, Any], bytes]:
    """Return the data without secrets, and its exact bytes."""
    _check_type(event.type)
    try:
        data = redact(event.data)
        payload = to_bytes(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise _unfit(stream, event, f"is not JSON that can be stored ({error}); clean it first") from error
    if len(payload) > PAYLOAD_BYTES:
        raise _unfit(stream, event, f"takes {len(payload):,} bytes; more than {PAYLOAD_BYTES:,} belong in a blob")
    if b"\\u0000" in payload and _holds_nul(event.data):
        raise _unfit(stream, event, "holds the character NUL, which no screen can show; clean it first")
    if payload.count(b"[") + payload.count(b"{") > MAX_DEPTH and _depth(payload) > MAX_DEPTH + 1:
        raise _unfit(stream, event, f"is nested deeper than {MAX_DEPTH} levels; clean it first")
    return data, payload


def _unfit(stream: str, event: NewEvent, why: str) -> ValueError:
    return ValueError(f"The data of {event.type} for {stream} {why}.")


def _is_text(text: str) -> bool:
    return clean_text(text) == text


def _holds_nul(data: Mapping[str, Any]) -> bool:
    return to_bytes(clean(data)) != to_bytes(data)


def _depth(payload: bytes) -> int:
    """Return how deep the value is nested, without recursion."""
    deepest, level = 0, [iter([json.loads(payload)])]
    while level:
        value = next(level[-1], None)
        match value:
            case None:
                level.pop()
            case dict():
                level.append(iter(item for item in value.values() if isinstance(item, (dict, list))))
            case list():
                level.append(iter(item for item in value if isinstance(item, (dict, list))))
        deepest = max(deepest, len(level) - 1)
    return deepest
