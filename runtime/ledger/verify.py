"""The audit: folds every chain again and compares it, and every blob, with what is stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3

from sqlalchemy import Connection, select
from sqlalchemy.exc import DatabaseError

from runtime.ledger import schema
from runtime.ledger.naming import NAMED, named_by
from runtime.ledger.port import AuditFault
from runtime.ledger.rows import NO_CHAIN, EventRow, kind_of, link
from runtime.ledger.verify_blobs import Naming, blob_faults
from runtime.ledger.verify_rows import (
    Found,
    HeadRow,
    all_events,
    all_heads,
    all_names,
    is_number,
    moment,
    number_or_0,
    undecodable_text_is_read,
)
from runtime.ledger.verify_tombstones import PRUNED, Graveyard, Record

RECORDS = {"payload.erased": "erasure", PRUNED: "pruning"}
"""Events that account for what is gone, and the kind of stream in which alone they count."""


def verify(connection: Connection) -> list[AuditFault]:
    """Return everything that does not fit: altered, missing, added or reordered rows, wrong heads, damaged blobs.

    On SQLite the database says first whether its own pages and indexes are whole. Whatever is found is reported and
    the audit goes on; it holds one part of one blob in memory at a time. Snapshots, fragments and the positions of
    consumers are derived or passing, and are not audited.

    What it cannot see: the newest events of a stream taken away together with everything that speaks of them (the
    stream's head, the counter), and a blob that no event names taken away as a whole. Keep a copy of the head's
    position elsewhere to see the first as well.
    """
    audit = _Audit(connection)
    with undecodable_text_is_read(connection):
        for judge in (
            audit.judge_file,
            audit.read_names,
            audit.judge_tombstones,
            audit.judge_events,
            audit.judge_heads,
            audit.judge_erasures,
            audit.judge_prunings,
            audit.judge_counter,
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
        self._names: dict[int, str] = {}
        self._graveyard: Graveyard | None = None
        self._last: dict[str, EventRow] = {}
        self._versions: dict[str, int] = {}
        self._chains: dict[str, str] = {}
        self._first: dict[str, int] = {}
        self._erased: list[tuple[EventRow, object]] = []
        self._erasures: dict[tuple[object, ...], str] = {}
        self._prunings: dict[str, Record] = {}
        self._named: dict[str, Naming] = {}
        self._position = 0

    def judge_file(self) -> None:
        """Let SQLite check its pages, and each index against its table, before anything is read through them."""
        if isinstance(self._connection.connection.driver_connection, sqlite3.Connection):
            for (said,) in self._connection.exec_driver_sql("PRAGMA integrity_check").fetchall():
                if said != "ok":
                    self.tell(f"the database file is damaged: {said}")

    def read_names(self) -> None:
        """Read the texts behind the numbers; one that was changed breaks the chain of each event that uses it."""
        self._names = all_names(self._connection)

    def judge_tombstones(self) -> None:
        """Learn which events were pruned, and where the chains of their streams go on."""
        graveyard = self._graveyard = Graveyard(self._connection, self._names)
        self.faults.extend(graveyard.faults)
        for stream, tombstone in graveyard.tombstones.items():
            self._versions[stream] = number_or_0(tombstone.version)
            self._chains[stream] = tombstone.chain_sha256

    def judge_events(self) -> None:
        """Compare every event with what came before it and with its payload."""
        for found in all_events(self._connection, self._names):
            self._judge_place(found.row)
            self._judge_chain(found)
            self._judge_payload(found)

    def _judge_place(self, row: EventRow) -> None:
        """Compare the position of an event with the one before it in the ledger."""
        graveyard = self._graveyard
        missing = [(self._position + 1, row.position - 1)] if row.position > self._position + 1 else []
        for first, last in graveyard.unexplained(*missing[0]) if graveyard and missing else missing:
            self._add(row, f"the events {first} to {last} of the ledger are missing")
        if graveyard and graveyard.explains(row.position):
            self._add(row, "a tombstone says that this event was pruned, but it is there")
        self._position = row.position

    def _judge_chain(self, found: Found) -> None:
        """Compare an event with the one before it in its stream."""
        row, stream = found.row, found.row.stream
        version, chain = self._versions.get(stream, 0), self._chains.get(stream, NO_CHAIN)
        if row.version != version + 1:
            self._add(
                row, f"{_read_as(row)}it follows event {version} of its stream, so events are missing or out of order"
            )
        elif not found.whole or link(chain, row[:-1]) != row.chain_sha256:
            self._add(row, "the row, or the one before it, was changed: it does not fit its chain")
        self._last[stream] = row
        self._versions[stream] = row.version if is_number(row.version) else version + 1
        self._chains[stream] = row.chain_sha256
        self._first.setdefault(stream, row.position)

    def _judge_payload(self, found: Found) -> None:
        if found.data is None:
            self._erased.append((found.row, found.erased_at))
        elif hashlib.sha256(found.data).hexdigest() != found.row.payload_sha256:
            self._add(found.row, "its payload was changed: the bytes do not match their hash")
        elif found.erased_at is not None:
            self._add(found.row, "its payload is marked as erased but is there")
        else:
            self._take_in(found.row, found.data)

    def _take_in(self, row: EventRow, data: bytes) -> None:
        """Remember what a payload says that has to be true elsewhere: which blobs there are, and what is gone."""
        records = RECORDS.get(row.type) == kind_of(row.stream)
        if not records and row.type not in NAMED:
            return
        try:
            said = json.loads(data)
        except ValueError:
            self._add(row, "its payload is no JSON")
            return
        if records and isinstance(said, dict):
            self._take_record(row, said)
        for sha256 in named_by(row.type, said):
            self._named.setdefault(sha256, Naming(row.stream, number_or_0(row.version), row.position))

    def _take_record(self, row: EventRow, said: dict[str, object]) -> None:
        if row.type == PRUNED:
            self._prunings[str(said.get("stream"))] = Record(row.organisation, row.time, said)
        else:
            key = tuple(_hashable(said.get(name)) for name in ("stream", "version", "payload_sha256"))
            self._erasures[key] = row.time

    def judge_erasures(self) -> None:
        """A payload may be gone only where an event says that it was erased, and when."""
        for row, erased_at in self._erased:
            recorded = self._erasures.get((row.stream, row.version, row.payload_sha256))
            if recorded is None:
                self._add(row, "its payload was removed without a record of its erasure")
            elif recorded != moment(erased_at):
                self._add(row, f"its payload is marked as erased at {moment(erased_at)}, the record says {recorded}")

    def judge_prunings(self) -> None:
        """A stream may be gone only where an event says that it was pruned."""
        if self._graveyard is not None:
            self.faults.extend(self._graveyard.judge_records(self._prunings))

    def judge_heads(self) -> None:
        """Compare the table of streams with the last event of each."""
        heads = {head.stream: head for head in all_heads(self._connection, self._names)}
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
            what = "the stream has a head but no events"
            self.faults.append(AuditFault(head.stream, number_or_0(head.version), None, what))

    def judge_counter(self) -> None:
        """Compare the counter with the last event."""
        rows = self._connection.execute(select(schema.counter)).fetchall()
        positions = [position for number, position in rows if number == 1]
        if not positions:
            self.tell("the counter is missing")
        elif positions[0] != self._position:
            what = f"the counter stands at {positions[0]}, the last event is {self._position}"
            self.tell(what, positions[0] if is_number(positions[0]) else None)
        for number, position in rows:
            if number != 1:
                self.tell(f"there is a second counter, {number}, which stands at {position}")

    def judge_blobs(self) -> None:
        """Hold every blob against its address, and look for each that an event names."""
        self.faults.extend(blob_faults(self._connection, self._named))

    def tell(self, what: str, position: int | None = None) -> None:
        """Note a fault that belongs to no stream."""
        self.faults.append(AuditFault("", 0, position, what))

    def _add(self, row: EventRow, what: str) -> None:
        self.faults.append(AuditFault(row.stream, number_or_0(row.version), row.position, what))


def _read_as(row: EventRow) -> str:
    return "" if is_number(row.version) else f"its version was changed to {row.version!r}; "


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int) else None


def _says_damaged(error: DatabaseError) -> bool:
    name = getattr(error.orig, "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
