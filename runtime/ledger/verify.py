"""The audit: folds every chain again and compares it, and every blob, with what is stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.exc import DatabaseError
from sqlalchemy.types import NullType

from runtime.ledger import schema
from runtime.ledger.naming import NAMED, named_by
from runtime.ledger.port import AuditFault
from runtime.ledger.rows import NO_CHAIN, EventRow, HeadRow, kind_of, link
from runtime.ledger.verify_blobs import Naming, blob_faults


def verify(connection: Connection) -> list[AuditFault]:
    """Return everything that does not fit: altered, missing, added or reordered rows, wrong heads, damaged blobs.

    On SQLite the database says first whether its own pages and indexes are whole. Whatever is found is reported and
    the audit goes on; it holds one part of one blob in memory at a time.

    What it cannot see: the newest events of a stream taken away together with everything that speaks of them (their
    payloads, the stream's head, the counter), and a blob that no event names taken away as a whole. Keep a copy of the
    head's position elsewhere to see the first as well.
    """
    audit = _Audit(connection)
    with _undecodable_text_is_read(connection):
        for judge in (
            audit.judge_file,
            audit.judge_events,
            audit.judge_heads,
            audit.judge_erasures,
            audit.judge_counter,
            audit.judge_strays,
            audit.judge_blobs,
        ):
            try:
                judge()
            except DatabaseError as error:
                if not _says_damaged(error):
                    raise
                audit.tell(f"the database cannot read its own file: {error.orig}")
    return sorted(audit.faults, key=lambda fault: (fault.position is None, fault.position or 0, fault.stream))


class _Audit:
    def __init__(self, connection: Connection) -> None:
        self.faults: list[AuditFault] = []
        self._connection = connection
        self._last: dict[str, EventRow] = {}
        self._versions: dict[str, int] = {}
        self._first: dict[str, int] = {}
        self._erased: list[EventRow] = []
        self._erasures: set[tuple[object, object, object]] = set()
        self._named: dict[str, Naming] = {}
        self._position = 0

    def judge_file(self) -> None:
        """Let SQLite check its pages, and each index against its table, before anything is read through them."""
        if isinstance(self._connection.connection.driver_connection, sqlite3.Connection):
            for (said,) in self._connection.exec_driver_sql("PRAGMA integrity_check").fetchall():
                if said != "ok":
                    self.tell(f"the database file is damaged: {said}")

    def judge_events(self) -> None:
        """Compare every event with what came before it and with its payload."""
        for row, data, erased_at, has_payload in _rows(self._connection):
            self._judge_event(row, data, erased_at, has_payload)

    def _judge_event(self, row: EventRow, data: bytes | None, erased_at: str | None, has_payload: bool) -> None:
        """Compare one event with the one before it in the ledger and the one before it in its stream."""
        if row.position != self._position + 1:
            self._add(row, f"the events {self._position + 1} to {row.position - 1} of the ledger are missing")
        self._position = row.position
        before = self._last.get(row.stream)
        version, chain = self._versions.get(row.stream, 0), before.chain_sha256 if before else NO_CHAIN
        if row.version != version + 1:
            self._add(
                row, f"{_read_as(row)}it follows event {version} of its stream, so events are missing or out of order"
            )
        elif not _fits(chain, row):
            self._add(row, "the row, or the one before it, was changed: it does not fit its chain")
        self._last[row.stream] = row
        self._versions[row.stream] = row.version if _is_number(row.version) else version + 1
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
        else:
            self._take_in(row, data)

    def _take_in(self, row: EventRow, data: bytes) -> None:
        """Remember what a payload says that has to be true elsewhere: which blobs there are, and what was erased."""
        erases = row.type == "payload.erased" and kind_of(_text(row.stream)) == "erasure"
        if not erases and row.type not in NAMED:
            return
        try:
            record = json.loads(data)
        except ValueError:
            self._add(row, "its payload is no JSON")
            return
        if erases and isinstance(record, dict):
            erased = (record.get(name) for name in ("stream", "version", "payload_sha256"))
            self._erasures.add(tuple(map(_hashable, erased)))  # type: ignore[arg-type]
        for sha256 in named_by(row.type, record):
            self._named.setdefault(sha256, Naming(_text(row.stream), _number(row.version), row.position))

    def judge_erasures(self) -> None:
        """A payload may be gone only where an event says that it was erased."""
        for row in self._erased:
            if (row.stream, row.version, row.payload_sha256) not in self._erasures:
                self._add(row, "its payload was removed without a record of its erasure")

    def judge_heads(self) -> None:
        """Compare the table of streams with the last event of each."""
        heads = {head.stream: head for head in _heads(self._connection)}
        for stream, row in self._last.items():
            head = heads.pop(stream, None)
            if head is None:
                self._add(row, "its stream is missing from the table of streams")
                continue
            wanted = HeadRow(
                stream=stream,
                kind=kind_of(_text(stream)),
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
            what = "the stream has a head but no events"
            self.faults.append(AuditFault(_text(head.stream), _number(head.version), None, what))

    def judge_counter(self) -> None:
        """Compare the counter with the last event."""
        rows = self._connection.execute(select(schema.counter)).fetchall()
        positions = [position for number, position in rows if number == 1]
        if not positions:
            self.tell("the counter is missing")
        elif positions[0] != self._position:
            what = f"the counter stands at {positions[0]}, the last event is {self._position}"
            self.tell(what, positions[0] if _is_number(positions[0]) else None)
        for number, position in rows:
            if number != 1:
                self.tell(f"there is a second counter, {number}, which stands at {position}")

    def judge_strays(self) -> None:
        """Find payloads that belong to no event."""
        events, payloads = schema.events, schema.payloads
        query = (
            select(payloads.c.position)
            .outerjoin(events, events.c.position == payloads.c.position)
            .where(events.c.position.is_(None))
        )
        for (position,) in self._connection.execute(query):
            self.tell("there is a payload but no event at this position", position)

    def judge_blobs(self) -> None:
        """Hold every blob against its address, and look for each that an event names."""
        self.faults.extend(blob_faults(self._connection, self._named))

    def tell(self, what: str, position: int | None = None) -> None:
        """Note a fault that belongs to no stream."""
        self.faults.append(AuditFault("", 0, position, what))

    def _add(self, row: EventRow, what: str) -> None:
        self.faults.append(AuditFault(_text(row.stream), _number(row.version), row.position, what))


def _read_as(row: EventRow) -> str:
    return "" if _is_number(row.version) else f"its version was changed to {row.version!r}; "


def _is_number(value: object) -> bool:
    return isinstance(value, int)


def _number(value: object) -> int:
    """Return a number that a column holds, 0 where a hand put in something else: SQLite keeps any kind of value."""
    return value if isinstance(value, int) else 0


def _text(value: object) -> str:
    """Return what a text column holds, as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int) else None


def _says_damaged(error: DatabaseError) -> bool:
    name = getattr(error.orig, "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


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
        if data is not None and not isinstance(data, bytes):  # SQLite keeps the kind that was put in by hand
            data = str(data).encode()
        yield EventRow(*row[:columns]), data, row[columns + 1], bool(row[columns + 2])


def _heads(connection: Connection) -> Iterator[HeadRow]:
    for row in connection.execute(select(schema.streams)):
        yield HeadRow(*row)
