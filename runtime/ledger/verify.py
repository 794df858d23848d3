"""The audit: folds every chain again and compares it with what is stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.types import NullType

from runtime.ledger import schema
from runtime.ledger.port import AuditFault
from runtime.ledger.rows import NO_CHAIN, EventRow, HeadRow, kind_of, link


def verify(connection: Connection) -> list[AuditFault]:
    """Return everything that does not fit: altered, missing, added or reordered rows, and wrong heads.

    What it cannot see: the newest events of a stream taken away together with everything that speaks of them (their
    payloads, the stream's head, the counter). Keep a copy of the head's position elsewhere to see that as well.
    """
    audit = _Audit()
    with _undecodable_text_is_read(connection):
        for row, data, erased_at, has_payload in _rows(connection):
            audit.judge(row, data, erased_at, has_payload)
        audit.judge_heads({head.stream: head for head in _heads(connection)})
        audit.judge_erasures()
        audit.judge_counter(connection.execute(select(schema.counter.c.position)).scalar())
        audit.judge_strays(connection)
    return sorted(audit.faults, key=lambda fault: (fault.position is None, fault.position or 0, fault.stream))


class _Audit:
    def __init__(self) -> None:
        self.faults: list[AuditFault] = []
        self._last: dict[str, EventRow] = {}
        self._first: dict[str, int] = {}
        self._erased: list[EventRow] = []
        self._erasures: set[tuple[object, object, object]] = set()
        self._position = 0

    def judge(self, row: EventRow, data: bytes | None, erased_at: str | None, has_payload: bool) -> None:
        """Compare one event with the one before it in the ledger and the one before it in its stream."""
        if row.position != self._position + 1:
            self._add(row, f"the events {self._position + 1} to {row.position - 1} of the ledger are missing")
        self._position = row.position
        before = self._last.get(row.stream)
        version, chain = (before.version, before.chain_sha256) if before else (0, NO_CHAIN)
        if row.version != version + 1:
            self._add(row, f"it follows event {version} of its stream, so events are missing or out of order")
        elif not _fits(chain, row):
            self._add(row, "the row, or the one before it, was changed: it does not fit its chain")
        self._last[row.stream] = row
        self._first.setdefault(row.stream, row.position)
        self._judge_payload(row, data, erased_at, has_payload)

    def _judge_payload(self, row: EventRow, data: bytes | None, erased_at: str | None, has_payload: bool) -> None:
        if not has_payload:
            self._add(row, "its payload is missing")
        elif data is None:
            self._erased.append(row)
        elif hashlib.sha256(data).hexdigest() != row.payload_sha256:
            self._add(row, "its payload was changed: the bytes do not match their hash")
        elif erased_at is not None:
            self._add(row, "its payload is marked as erased but is there")
        elif row.type == "payload.erased" and kind_of(row.stream) == "erasure":
            record = json.loads(data)
            self._erasures.add((record.get("stream"), record.get("version"), record.get("payload_sha256")))

    def judge_erasures(self) -> None:
        """A payload may be gone only where an event says that it was erased."""
        for row in self._erased:
            if (row.stream, row.version, row.payload_sha256) not in self._erasures:
                self._add(row, "its payload was removed without a record of its erasure")

    def judge_heads(self, heads: dict[str, HeadRow]) -> None:
        """Compare the table of streams with the last event of each."""
        for stream, row in self._last.items():
            head = heads.pop(stream, None)
            if head is None:
                self._add(row, "its stream is missing from the table of streams")
                continue
            wanted = HeadRow(
                stream=stream,
                kind=kind_of(stream),
                organisation=row.organisation,
                first_position=self._first[stream],
                version=row.version,
                chain_sha256=row.chain_sha256,
                last_type=row.type,
                updated_at=row.time,
            )
            wrong = [name for name in HeadRow._fields if getattr(head, name) != getattr(wanted, name)]
            if wrong:
                self._add(row, f"the head of its stream does not fit its last event: {', '.join(wrong)}")
        for head in heads.values():
            self.faults.append(AuditFault(head.stream, head.version, None, "the stream has a head but no events"))

    def judge_counter(self, position: int | None) -> None:
        """Compare the counter with the last event."""
        if position != self._position:
            self.faults.append(
                AuditFault("", 0, position, f"the counter stands at {position}, the last event is {self._position}")
            )

    def judge_strays(self, connection: Connection) -> None:
        """Find payloads that belong to no event."""
        events, payloads = schema.events, schema.payloads
        query = (
            select(payloads.c.position)
            .outerjoin(events, events.c.position == payloads.c.position)
            .where(events.c.position.is_(None))
        )
        for (position,) in connection.execute(query):
            self.faults.append(AuditFault("", 0, position, "there is a payload but no event at this position"))

    def _add(self, row: EventRow, what: str) -> None:
        self.faults.append(AuditFault(row.stream, row.version, row.position, what))


def _fits(chain: str, row: EventRow) -> bool:
    try:
        return link(chain, row[:-1]) == row.chain_sha256
    except TypeError:  # bytes where a text belongs
        return False


@contextmanager
def _undecodable_text_is_read(connection: Connection) -> Iterator[None]:
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


def _rows(connection: Connection) -> Iterator[tuple[EventRow, bytes | None, str | None, bool]]:
    events, payloads = schema.events, schema.payloads
    as_it_is = type_coerce(payloads.c.data, NullType)
    query = (
        select(*events.c, as_it_is, payloads.c.erased_at, payloads.c.position.is_not(None))
        .outerjoin(payloads, payloads.c.position == events.c.position)
        .order_by(events.c.position)
        .execution_options(yield_per=500)
    )
    columns = len(EventRow._fields)
    for row in connection.execute(query):
        data = row[columns]
        if isinstance(data, str):  # SQLite keeps the kind that was put in, and a hand puts in text
            data = data.encode()
        yield EventRow(*row[:columns]), data, row[columns + 1], bool(row[columns + 2])


def _heads(connection: Connection) -> Iterator[HeadRow]:
    for row in connection.execute(select(schema.streams)):
        yield HeadRow(*row)
