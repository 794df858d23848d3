"""From facts to rows and back, and the hash that chains a row to the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from pydantic_core import from_json

from contracts import Event, EventId, ExecutionId
from contracts.ids import new_ulid, ulid_text

NO_CHAIN = ""
"""What stands before the first event of a stream."""


class EventRow(NamedTuple):
    """One event as the chain sees it: hashes in hex, the moment as text. `StoredEvent` is how it is kept."""

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


class StoredEvent(NamedTuple):
    """One row of the table `events`, in the order of its columns; texts are numbers of names."""

    position: int
    stream: int
    version: int
    id: bytes
    type: int
    time: int
    source: int
    organisation: int
    execution_id: int | None
    trace_id: int | None
    payload_sha256: bytes
    chain_sha256: bytes
    data: bytes | None
    erased_at: int | None


class StoredHead(NamedTuple):
    """One row of the table `streams`, in the order of its columns; texts are numbers of names."""

    stream: int
    kind: int
    organisation: int
    first_position: int
    version: int
    chain_sha256: bytes
    last_type: int
    updated_at: int


_CANONICAL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE_32 = str.maketrans(_CROCKFORD, "0123456789abcdefghijklmnopqrstuv")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EVENT = "event/"
_FIELDS = set(Event.model_fields)
"""Shared by all events, which are frozen; pydantic copies it where it makes one event from another."""
_set = object.__setattr__


def link(previous: str, columns: tuple[str | int | None, ...]) -> str:
    """Return the chain hash of a row, whose columns but the last are given, after the row `previous` of its stream.

    It is the sha256 of the JSON list of `previous` and those columns, in UTF-8 and without spaces.
    """
    position, stream, version, event_id, event_type, moment, *origin, payload = columns
    named = quoted(stream), version, event_id, quoted(event_type), moment, quoted_origin(*origin), payload
    return link_of(previous, position, *named)


def link_of(  # noqa: PLR0917 - called for each row, where names would cost as much as the hash
    previous: str, position: object, stream: str, version: object, event_id: object, event_type: str, moment: object,
    origin: str, payload: object,
) -> str:  # fmt: skip
    """Return what `link` does, of names that are JSON already: those of a stream are the same in each of its rows."""
    return hashlib.sha256(
        f'["{previous}",{position},{stream},{version},"{event_id}",{event_type},"{moment}",{origin},"{payload}"]'.encode()
    ).hexdigest()


@lru_cache(maxsize=16_384)
def quoted(name: str | int | None) -> str:
    """Return a name, or its absence, as JSON; the same few come again and again."""
    return _CANONICAL(name)


@lru_cache(maxsize=4_096)
def quoted_origin(*names: str | int | None) -> str:
    """Return source, organisation, execution and trace as they stand in the JSON of a row."""
    return ",".join(map(_CANONICAL, names))


def new_event_id() -> tuple[str, bytes]:
    """Return a fresh id of an event, and its 16 bytes."""
    text, stored = new_ulid()
    return _EVENT + text, stored


def id_to_bytes(event_id: str) -> bytes:
    """Return the 16 bytes of the ULID in `event/01J9…`."""
    return int(event_id[len(_EVENT) :].translate(_BASE_32), 32).to_bytes(16)


def id_from_bytes(stored: bytes) -> str:
    """Return the id that `id_to_bytes` turned into bytes."""
    return _EVENT + ulid_text(int.from_bytes(stored))


def kind_of(stream: str) -> str:
    """Return the kind of a stream: `order` of `order/01J9…`."""
    return stream.partition("/")[0]


def time_to_text(moment: datetime) -> str:
    """Return the moment in UTC in 27 characters that sort as the moments do: the form that the chain covers."""
    second, microsecond = divmod(time_to_number(moment), 1_000_000)
    return f"{_second(second)}.{microsecond:06d}Z"


@lru_cache(maxsize=4)
def _second(number: int) -> str:
    """Return what the moments of one second begin with: to write one out takes five times as long."""
    return (_EPOCH + timedelta(seconds=number)).isoformat()[:-6]


def time_from_text(text: str) -> datetime:
    """Return the moment that `time_to_text` wrote."""
    return datetime.fromisoformat(text)


def time_to_number(moment: datetime) -> int:
    """Return the moment as it is stored: whole microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def time_from_number(number: int) -> datetime:
    """Return the moment that `time_to_number` gave, in UTC."""
    return _EPOCH + timedelta(microseconds=number)


def from_stored(stored: StoredEvent, texts: Mapping[int, str]) -> EventRow:
    """Return the event as the chain sees it.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: a hand changed the row.
    """
    execution_id, trace_id = stored.execution_id, stored.trace_id
    return EventRow(
        stored.position,
        texts[stored.stream],
        stored.version,
        id_from_bytes(stored.id),
        texts[stored.type],
        time_to_text(time_from_number(stored.time)),
        texts[stored.source],
        texts[stored.organisation],
        None if execution_id is None else texts[execution_id],
        None if trace_id is None else texts[trace_id],
        stored.payload_sha256.hex(),
        stored.chain_sha256.hex(),
    )


def names_in(stored: StoredEvent) -> set[int]:
    """Return the numbers of the names that a stored event uses."""
    used = {stored.stream, stored.type, stored.source, stored.organisation, stored.execution_id, stored.trace_id}
    return {number for number in used if number is not None}


def read_event(stored: StoredEvent, texts: Mapping[int, str]) -> Event:
    """Return the event, with data that nobody else holds; without data when the payload was erased.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: a hand changed the row.
    """
    execution_id, trace_id = stored.execution_id, stored.trace_id
    return to_event(
        id_from_bytes(stored.id),
        texts[stored.source],
        texts[stored.type],
        texts[stored.stream],
        time_from_number(stored.time),
        stored.data,
        texts[stored.organisation],
        None if execution_id is None else texts[execution_id],
        None if trace_id is None else texts[trace_id],
        stored.version,
        stored.position,
        stored.payload_sha256.hex(),
        stored.chain_sha256.hex(),
    )


def to_event(  # noqa: PLR0917 - called for each row
    event_id: str, source: str, event_type: str, stream: str, moment: datetime, payload: bytes | None,
    organisation: str, execution_id: str | None, trace_id: str | None, version: int, position: int,
    payload_sha256: str, chain_sha256: str,
) -> Event:  # fmt: skip
    """Return an event of these values, unchecked: they were checked when they were stored, at ten times the cost.

    Its data is of nobody else; there is none without a payload.
    """
    event = Event.__new__(Event)
    values = {
        "specversion": "1.0",
        "datacontenttype": "application/json",
        "id": str.__new__(EventId, event_id),
        "source": source,
        "type": event_type,
        "subject": stream,
        "time": moment,
        "data": None if payload is None else from_json(payload),
        "organisation": organisation,
        "execution_id": None if execution_id is None else _execution_id(execution_id),
        "trace_id": trace_id,
        "stream_version": version,
        "position": position,
        "payload_sha256": payload_sha256,
        "chain_sha256": chain_sha256,
    }
    _set(event, "__dict__", values)
    _set(event, "__pydantic_fields_set__", _FIELDS)
    _set(event, "__pydantic_extra__", None)
    _set(event, "__pydantic_private__", None)
    return event


@lru_cache(maxsize=4_096)
def _execution_id(text: str) -> ExecutionId:
    return ExecutionId(text)
