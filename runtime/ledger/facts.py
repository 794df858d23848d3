"""What may be stored: checks an append before it reaches the writer, and turns its data into exact bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts import EventId
from runtime.canonical import MAX_DEPTH, clean, to_bytes
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.rows import EventRow

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
                id=EventId.new(),
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
    if len(stream) > 255 or not _STREAM.fullmatch(stream) or not _is_text(stream):
        raise ValueError(f"{stream!r} is not a stream: kind/name, at most 255 characters, no blanks around it.")
    if not append.events:
        raise ValueError(f"An append to {stream} carries no events; it needs one at least.")
    if append.expected_version < 0:
        raise ValueError(f"An append to {stream} expects version {append.expected_version}; versions start at 0.")
    if len(append.organisation) > 64 or not _NAME.fullmatch(append.organisation):
        raise ValueError(f"An append to {stream} names the organisation {append.organisation!r}, which is not a name.")
    if not 0 < len(append.source) <= 255 or not _is_text(append.source):
        raise ValueError(f"An append to {stream} names the source {append.source!r}; it takes 1 to 255 characters.")
    if append.trace_id is not None and (len(append.trace_id) > 64 or not _is_text(append.trace_id)):
        raise ValueError(f"An append to {stream} has the trace id {append.trace_id!r}; it takes 64 characters.")


def _payload(stream: str, event: NewEvent) -> bytes:
    if len(event.type) > 100 or not _TYPE.fullmatch(event.type):
        raise ValueError(f"{event.type!r}, for {stream}, is not a type of event; it looks like step.finished.")
    where = f"The data of {event.type} for {stream}"
    try:
        payload = to_bytes(event.data)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where} is not JSON that can be stored ({error}); clean it first.") from error
    if len(payload) > PAYLOAD_BYTES:
        raise ValueError(f"{where} takes {len(payload):,} bytes; more than {PAYLOAD_BYTES:,} belong in the blob store.")
    if b"\\u0000" in payload and _holds_nul(event.data):
        raise ValueError(f"{where} holds the character NUL, which no screen can show; clean it first.")
    if payload.count(b"[") + payload.count(b"{") > MAX_DEPTH and _depth(payload) > MAX_DEPTH + 1:
        raise ValueError(f"{where} is nested deeper than {MAX_DEPTH} levels; clean it first.")
    return payload


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


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
