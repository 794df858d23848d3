"""What may be stored: checks an append before it reaches the writer, and turns its data into exact bytes.

This is also where secrets are taken out of every event, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from contracts import ExecutionId
from runtime.canonical import MAX_DEPTH, clean, clean_text, to_bytes
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.rows import EventRow, new_event_id
from runtime.telemetry.redaction import redact

PAYLOAD_BYTES = 8 * 1024 * 1024
"""Larger data belongs in the blob store; servers limit what one statement may carry."""

_STREAM = re.compile(r"[a-z][a-z0-9_]{0,63}/[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*(?<!\s)")
_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Prepared:
    """An append that can be stored: rows that lack only their place and chain, and the exact bytes of each payload."""

    append: Append
    rows: list[EventRow]
    payloads: list[bytes]


def prepare(append: Append, time: str) -> Prepared:
    """Return the append ready to be stored; raise ValueError naming what cannot be stored, and why."""
    _check_addresses(append)
    rows, payloads = [], []
    for event in append.events:
        payload = _payload(append.stream, event)
        payloads.append(payload)
        rows.append(
            EventRow(
                position=0,
                stream=append.stream,
                version=0,
                id=new_event_id(),
                type=event.type,
                time=time,
                source=append.source,
                organisation=append.organisation,
                execution_id=append.execution_id,
                trace_id=append.trace_id,
                payload_sha256=hashlib.sha256(payload).hexdigest(),
                chain_sha256="",
            )
        )
    return Prepared(append, rows, payloads)


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
def _check_type(event_type: str) -> None:
    if len(event_type) > 100 or not _TYPE.fullmatch(event_type):
        raise ValueError(f"{event_type!r} is not a type of event; it looks like step.finished.")


def _payload(stream: str, event: NewEvent) -> bytes:
    _check_type(event.type)
    try:
        payload = to_bytes(redact(event.data))
    except (TypeError, ValueError, RecursionError) as error:
        raise _unfit(stream, event, f"is not JSON that can be stored ({error}); clean it first") from error
    if len(payload) > PAYLOAD_BYTES:
        raise _unfit(stream, event, f"takes {len(payload):,} bytes; more than {PAYLOAD_BYTES:,} belong in a blob")
    if b"\\u0000" in payload and _holds_nul(event.data):
        raise _unfit(stream, event, "holds the character NUL, which no screen can show; clean it first")
    if payload.count(b"[") + payload.count(b"{") > MAX_DEPTH and _depth(payload) > MAX_DEPTH + 1:
        raise _unfit(stream, event, f"is nested deeper than {MAX_DEPTH} levels; clean it first")
    return payload


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
