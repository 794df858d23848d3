"""What one append does inside the writer's transaction: it checks everything first and writes then."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from contracts import Event
from runtime.errors import NotFound, StaleWriter, VersionConflict
from runtime.ledger.blobs import Packed, write_blob
from runtime.ledger.facts import Prepared, PreparedCursor, prepare, prepare_cursor
from runtime.ledger.port import Append, Cursor, CursorChange, Lease, NewEvent, Snapshot, Stream
from runtime.ledger.rows import time_to_number, time_to_text
from runtime.ledger.transaction import Transaction

ERASED = "payload.erased"
_FEW = 8
_ROW_BYTES, _SMALL_BYTES = 1_024, 32_768


@dataclass(slots=True)  # not frozen: that would take three times as long to make
class Storing:
    """Everything that goes into one commit; called in a transaction, it is stored."""

    moment: datetime
    appends: Sequence[Prepared] = ()
    blobs: Sequence[Packed] = ()
    cursors: Sequence[PreparedCursor | CursorChange] = ()
    snapshots: Sequence[Snapshot] = ()
    """Their data compressed."""
    unchanged: Mapping[Stream, int] = field(default_factory=dict)

    def __call__(self, transaction: Transaction) -> tuple[Event, ...]:
        """Store everything; see `store`."""
        return store(transaction, self)

    @property
    def small(self) -> bool:
        """Whether it is stored in well under a millisecond."""
        if len(self.appends) > _FEW or self.blobs:
            return False
        size = 0
        for one in self.appends:
            size += one.size + _ROW_BYTES * len(one.facts)
        return size + sum(len(snapshot.data) for snapshot in self.snapshots) <= _SMALL_BYTES


def store(transaction: Transaction, storing: Storing) -> tuple[Event, ...]:
    """Store everything; raise VersionConflict or StaleWriter before anything was written."""
    for one in storing.appends:
        if one.append.leases:
            _check_leases(transaction, one.append.leases)
    _check_versions(transaction, [one.append for one in storing.appends], storing.unchanged)
    cursors = [_check_cursor(transaction, cursor) for cursor in storing.cursors]
    for blob in storing.blobs:
        write_blob(transaction, blob)
    stored: list[Event] = []
    for one in storing.appends:
        stored += transaction.write(one, storing.moment)
    for cursor, is_new in cursors:
        _save_cursor(transaction, cursor, time_to_number(storing.moment), is_new=is_new)
    for snapshot in storing.snapshots:
        _save_snapshot(transaction, snapshot)
    transaction.committed.extend(stored)
    return tuple(stored)


def erase(transaction: Transaction, stream: Stream, version: int, moment: datetime) -> None:
    """Remove the payload of one event and record that; do nothing where it is gone already."""
    transaction.send()
    number = transaction.find(stream)
    row = None if number is None else transaction.one(transaction.statements.event_at, number, version)
    if row is None:
        raise NotFound(f"There is no event {version} in the stream {stream}.", stream=stream, version=version)
    position, organisation, payload_sha256, erased_at = row
    if erased_at is not None:
        return
    organisation = organisation if isinstance(organisation, str) else bytes(organisation).decode()
    record = f"erasure/{organisation}"
    data = {"stream": stream, "version": version, "position": position, "payload_sha256": payload_sha256.hex()}
    append = Append(
        stream=record,
        events=[NewEvent(ERASED, data)],
        expected_version=transaction.head(record).version,
        organisation=organisation,
        source=f"/organisation/{organisation}",
    )
    for derived in (transaction.statements.delete_snapshots, transaction.statements.delete_fragments):
        transaction.run(derived, number)  # they may say the same again
    transaction.run(transaction.statements.erase_payload, None, time_to_number(moment), position)
    store(transaction, Storing(moment, [prepare(append, time_to_text(moment))]))


def _check_versions(transaction: Transaction, appends: Sequence[Append], unchanged: Mapping[Stream, int]) -> None:
    for stream, expected in unchanged.items():
        _check_version(stream, transaction.head(stream).version, expected)
    if len(appends) == 1:
        (append,) = appends
        _check_version(append.stream, transaction.head(append.stream).version, append.expected_version)
        return
    versions: dict[str, int] = {}
    for append in appends:
        actual = versions.get(append.stream)
        if actual is None:
            actual = transaction.head(append.stream).version
        _check_version(append.stream, actual, append.expected_version)
        versions[append.stream] = actual + len(append.events)


def _check_version(stream: Stream, actual: int, expected: int) -> None:
    if actual != expected:
        raise VersionConflict(
            f"The stream {stream} is at version {actual}, not {expected}: somebody else wrote to it meanwhile. "
            "Read it again, then decide again.",
            stream=stream,
            expected=expected,
            actual=actual,
        )


def _check_leases(transaction: Transaction, leases: Sequence[Lease]) -> None:
    for lease in dict.fromkeys(leases):
        row = transaction.lease(lease.name)
        if row is None or row[1:3] != (lease.holder, lease.fence):
            raise StaleWriter(
                f"{lease.holder} no longer holds {lease.name}: its lease ran out or was given back, and another "
                "process may have taken over. Nothing was written.",
                name=lease.name,
                holder=lease.holder,
                fence=lease.fence,
                holder_now=None if row is None else row[1] or None,
            )


def _check_cursor(transaction: Transaction, cursor: PreparedCursor | CursorChange) -> tuple[PreparedCursor, bool]:
    """Return the cursor as it is to be saved, and whether the consumer saves one for the first time."""
    row = transaction.one(transaction.statements.consumer, cursor.name)
    actual, data = (0, None) if row is None else row
    if isinstance(cursor, CursorChange):
        stands = Cursor(cursor.name, actual, actual, None if data is None else json.loads(data))
        return prepare_cursor(replace(cursor.change(stands), name=cursor.name)), row is None
    if cursor.expected is not None and cursor.expected != actual:
        raise VersionConflict(
            f"The consumer {cursor.name} stands at position {actual}, not {cursor.expected}: another process of it "
            "went on meanwhile. Nothing was written; read its position again and go on from there.",
            stream=f"consumer/{cursor.name}",
            expected=cursor.expected,
            actual=actual,
        )
    return cursor, row is None


def _save_cursor(transaction: Transaction, cursor: PreparedCursor, time: int, *, is_new: bool) -> None:
    if is_new:
        transaction.run(transaction.statements.insert_consumer, cursor.name, cursor.position, cursor.data, time)
    else:
        transaction.run(transaction.statements.move_consumer, cursor.position, cursor.data, time, cursor.name)


def _save_snapshot(transaction: Transaction, snapshot: Snapshot) -> None:
    number = transaction.number_of(snapshot.stream)
    transaction.run(transaction.statements.delete_snapshot, number, snapshot.version)
    transaction.run(transaction.statements.insert_snapshot, number, snapshot.version, snapshot.data)
