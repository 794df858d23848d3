"""The ledger on SQL: appends go to the writer, reads run on connections of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Select, select

from contracts import Event, ExecutionId
from runtime.clock import Clock
from runtime.errors import LedgerError, NotFound, StaleWriter, VersionConflict
from runtime.ledger import facts, schema
from runtime.ledger.blobs import Packed, pack_all, write_blob
from runtime.ledger.facts import Prepared, prepare
from runtime.ledger.port import Append, AuditFault, Lease, NewEvent, Stream
from runtime.ledger.reader import Reader
from runtime.ledger.rows import EventRow, time_to_text, to_event
from runtime.ledger.transaction import Transaction
from runtime.ledger.verify import verify
from runtime.ledger.writer import Listener, Writer

ERASED = "payload.erased"


class SqlLedger:
    """The port `Ledger` on one database."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def append(self, *appends: Append, blobs: Sequence[bytes] = ()) -> tuple[Event, ...]:
        """Store everything in one commit, or nothing; see the port."""
        time = time_to_text(self._clock.now())
        prepared = [prepare(append, time) for append in appends]
        packed = await pack_all(blobs) if blobs else []
        return await self._writer.do(lambda transaction: _store(transaction, prepared, packed))

    async def read(self, stream: Stream, *, after_version: int = 0) -> list[Event]:
        """Return the events of one stream, in order."""
        events = schema.events
        query = _events().where(events.c.stream == stream, events.c.version > after_version)
        return await self._read(query.order_by(events.c.version))

    async def read_execution(self, execution_id: ExecutionId, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events of all streams of one execution with a position greater than `after`, in order."""
        events = schema.events
        query = _events().where(events.c.execution_id == str(execution_id), events.c.position > after)
        return await self._read(query.order_by(events.c.position).limit(limit))

    async def read_all(self, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events with a position greater than `after`, in order."""
        events = schema.events
        return await self._read(_events().where(events.c.position > after).order_by(events.c.position).limit(limit))

    async def streams(
        self, kind: str, *, organisation: str | None = None, last_types: Sequence[str] = (), prefix: str = ""
    ) -> list[Stream]:
        """Return the streams of one kind, oldest first; with `prefix` only those whose name starts with it."""
        streams = schema.streams
        query = select(streams.c.stream).where(streams.c.kind == kind).order_by(streams.c.first_position)
        if organisation is not None:
            query = query.where(streams.c.organisation == organisation)
        if last_types:
            query = query.where(streams.c.last_type.in_(last_types))
        if prefix:
            query = query.where(streams.c.stream >= prefix, streams.c.stream < prefix + "\U0010ffff")
        return [row[0] for row in await self._reader.rows(query)]

    async def head(self) -> int:
        """Return the greatest position."""
        rows = await self._reader.rows(select(schema.counter.c.position).where(schema.counter.c.id == 1))
        if not rows or not isinstance(rows[0][0], int):
            raise LedgerError(
                "The ledger's counter was removed or changed, so nothing can be written. `silicon audit verify` lists "
                "what was changed; restore the ledger from a backup."
            )
        return int(rows[0][0])

    async def verify(self) -> list[AuditFault]:
        """Check every chain, payload and blob; return what does not fit."""
        return await self._reader.in_snapshot(verify)

    async def erase(self, stream: Stream, version: int) -> None:
        """Remove the payload of one event for good, and record that it was erased.

        The record is an event of the stream `erasure/ORGANISATION`, so that nobody can remove a payload unseen.
        """
        time = time_to_text(self._clock.now())
        await self._writer.do(lambda transaction: _erase(transaction, stream, version, time))
        await self._reader.flush_erased()

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on the event loop after each commit of this process; return a function that stops it."""
        self._writer.listeners.append(listener)
        return lambda: _forget(self._writer.listeners, listener)

    async def _read(self, query: Select[tuple[object, ...]]) -> list[Event]:
        rows = await self._reader.rows(query)
        return [_event(EventRow(*row[:-1]), row[-1]) for row in rows]


def _events() -> Select[tuple[object, ...]]:
    """Each event with its payload; an event whose payload row is gone is still returned."""
    events, payloads = schema.events, schema.payloads
    return select(*events.c, payloads.c.data).outerjoin(payloads, payloads.c.position == events.c.position)


def _event(row: EventRow, payload: bytes | None) -> Event:
    try:
        return to_event(row, payload)
    except (TypeError, ValueError) as error:
        raise LedgerError(
            f"Event {row.version} of {row.stream} was changed in the database and can no longer be read. "
            "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
            stream=row.stream,
            version=row.version,
            position=row.position,
        ) from error


def _store(transaction: Transaction, prepared: Sequence[Prepared], packed: Sequence[Packed]) -> tuple[Event, ...]:
    _check_leases(transaction, [lease for one in prepared for lease in one.append.leases])
    _check_versions(transaction, [one.append for one in prepared])
    for blob in packed:
        write_blob(transaction, blob)
    stored: list[Event] = []
    for one in prepared:
        rows = transaction.write(one.rows, one.payloads)
        stored.extend(to_event(row, payload) for row, payload in zip(rows, one.payloads, strict=True))
    transaction.committed.extend(stored)
    return tuple(stored)


def _check_versions(transaction: Transaction, appends: Sequence[Append]) -> None:
    versions: dict[str, int] = {}
    for append in appends:
        actual = versions.get(append.stream)
        if actual is None:
            actual = transaction.head(append.stream).version
        if actual != append.expected_version:
            raise VersionConflict(
                f"The stream {append.stream} is at version {actual}, not {append.expected_version}: somebody "
                "else wrote to it meanwhile. Read it again, then decide again.",
                stream=append.stream,
                expected=append.expected_version,
                actual=actual,
            )
        versions[append.stream] = actual + len(append.events)


def _check_leases(transaction: Transaction, leases: Sequence[Lease]) -> None:
    for lease in dict.fromkeys(leases):
        row = transaction.one(transaction.statements.lease, lease.name)
        if row is None or row[1:3] != (lease.holder, lease.fence):
            raise StaleWriter(
                f"{lease.holder} no longer holds {lease.name}: its lease ran out or was given back, and another "
                "process may have taken over. Nothing was written.",
                name=lease.name,
                holder=lease.holder,
                fence=lease.fence,
                holder_now=None if row is None else row[1] or None,
            )


def _erase(transaction: Transaction, stream: Stream, version: int, time: str) -> None:
    row = transaction.one(transaction.statements.event_at, stream, version)
    if row is None:
        raise NotFound(f"There is no event {version} in the stream {stream}.", stream=stream, version=version)
    position, organisation, payload_sha256, erased_at = row
    if erased_at is not None:
        return
    record = f"erasure/{organisation}"
    data = {"stream": stream, "version": version, "position": position, "payload_sha256": payload_sha256}
    append = Append(
        stream=record,
        events=[NewEvent(ERASED, data)],
        expected_version=transaction.head(record).version,
        organisation=organisation,
        source=f"/organisation/{organisation}",
    )
    transaction.run(transaction.statements.erase_payload, None, time, position)
    _store(transaction, [facts.prepare(append, time)], [])


def _forget(listeners: list[Listener], listener: Listener) -> None:
    if listener in listeners:
        listeners.remove(listener)
