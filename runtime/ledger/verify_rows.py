"""What the audit reads, in the form that the chain covers, whatever a hand put into the columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.types import NullType

from runtime.ledger import schema
from runtime.ledger.rows import (
    EventRow,
    StoredEvent,
    StoredHead,
    from_stored,
    time_from_number,
    time_to_text,
)

UNREADABLE = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What turning a row that a hand changed may raise."""


class Found(NamedTuple):
    """One event as it was found."""

    row: EventRow
    """As far as it can be read."""
    whole: bool
    """Whether it can be read; where it cannot, it was changed."""
    data: bytes | None
    erased_at: object


class HeadRow(NamedTuple):
    """One row of the table of streams, as text."""

    stream: str
    kind: str
    organisation: str
    first_position: int
    version: int
    chain_sha256: str
    last_type: str
    updated_at: str


def all_names(connection: Connection) -> dict[int, str]:
    """Return every name."""
    return {number: text_of(text) for number, text in connection.execute(select(schema.names))}


def all_events(connection: Connection, names: Mapping[int, str]) -> Iterator[Found]:
    """Yield every event, by position, a few in memory at a time."""
    query = select(*_as_they_are(schema.events)).order_by(schema.events.c.position)
    for values in connection.execute(query.execution_options(yield_per=500)):
        stored = StoredEvent(*values)
        data: Any = stored.data
        if data is not None and not isinstance(data, bytes):  # SQLite keeps the kind that was put in by hand
            data = str(data).encode()
        try:
            if len(stored.id) != 16 or type(stored.time) is not int:
                raise ValueError("not as the program stores it")
            yield Found(from_stored(stored, names), True, data, stored.erased_at)
        except UNREADABLE:
            yield Found(_as_far_as_readable(stored, names), False, data, stored.erased_at)


def all_heads(connection: Connection, names: Mapping[int, str]) -> Iterator[HeadRow]:
    """Yield every head."""
    for values in connection.execute(select(*_as_they_are(schema.streams))).fetchall():
        head = StoredHead(*values)
        yield HeadRow(
            stream=name(names, head.stream),
            kind=name(names, head.kind),
            organisation=name(names, head.organisation),
            first_position=head.first_position,
            version=head.version,
            chain_sha256=hex_of(head.chain_sha256),
            last_type=name(names, head.last_type),
            updated_at=moment(head.updated_at),
        )


def name(names: Mapping[int, str], number: object) -> str:
    """Return the text of a name, or how it is shown when there is none."""
    return names.get(number, f"?{text_of(number)}")  # type: ignore[call-overload,no-any-return]


def hex_of(value: object) -> str:
    """Return bytes in hex, and what a hand put in their place as text."""
    return value.hex() if isinstance(value, bytes) else str(value)


def moment(value: object) -> str:
    """Return a stored moment as text, and what a hand put in its place as it is."""
    try:
        return time_to_text(time_from_number(value))  # type: ignore[arg-type]
    except UNREADABLE:
        return text_of(value)


def is_number(value: object) -> bool:
    """Whether a column of numbers holds one: SQLite keeps any kind of value."""
    return isinstance(value, int)


def number_or_0(value: object) -> int:
    """Return a number that a column holds, 0 where a hand put in something else."""
    return value if isinstance(value, int) else 0


def text_of(value: object) -> str:
    """Return what a column holds, as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


@contextmanager
def undecodable_text_is_read(connection: Connection) -> Iterator[None]:
    """Let SQLite give a text that is no longer UTF-8, so that it is reported instead of ending the audit."""
    driver: Any = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        yield
        return
    driver.text_factory = lambda data: data.decode(errors="replace")
    try:
        yield
    finally:
        driver.text_factory = str


def _as_they_are(table: Any) -> list[Any]:
    """The columns of a table without the conversions that fail on what a hand put in."""
    return [type_coerce(column, NullType) for column in table.c]


def _as_far_as_readable(stored: StoredEvent, names: Mapping[int, str]) -> EventRow:
    execution_id, trace_id = stored.execution_id, stored.trace_id
    return EventRow(
        position=stored.position,
        stream=name(names, stored.stream),
        version=stored.version,
        id=hex_of(stored.id),
        type=name(names, stored.type),
        time=moment(stored.time),
        source=name(names, stored.source),
        organisation=name(names, stored.organisation),
        execution_id=None if execution_id is None else name(names, execution_id),
        trace_id=None if trace_id is None else name(names, trace_id),
        payload_sha256=hex_of(stored.payload_sha256),
        chain_sha256=hex_of(stored.chain_sha256),
    )
