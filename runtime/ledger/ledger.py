"""The ledger on SQL: appends go to the writer, reads run on connections of their own."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, union_all

from contracts import Event, ExecutionId
from runtime.canonical import clean_text
from runtime.clock import Clock
from runtime.errors import LedgerError
from runtime.ledger import schema, storing
from runtime.ledger.blobs import pack_all
from runtime.ledger.facts import prepare, prepare_cursors, prepare_snapshots
from runtime.ledger.port import Append, AuditFault, Cursor, CursorChange, Snapshot, Stream
from runtime.ledger.pruning import KEPT, Pruning, prune
from runtime.ledger.reader import Reader
from runtime.ledger.rows import StoredEvent, kind_of, names_in, read_event, time_to_text
from runtime.ledger.storing import Storing
from runtime.ledger.texts import number_of
from runtime.ledger.verify import verify
from runtime.ledger.writer import Listener, Writer

MOST_VERSIONS = 500
"""Asked for in one query."""


class SqlLedger:
    """The port `Ledger` on one database."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._texts = reader.texts()

    async def append(
        self,
        *appends: Append,
        blobs: Sequence[bytes] = (),
        cursors: Sequence[Cursor | CursorChange] = (),
        snapshots: Sequence[Snapshot] = (),
        unchanged: Mapping[Stream, int] | None = None,
        then: Callable[[Sequence[Event]], None] | None = None,
    ) -> tuple[Event, ...]:
        """Store everything in one commit, or nothing; see the port."""
        moment = self._clock.now()
        time = time_to_text(moment)
        whole = Storing(
            moment,
            [prepare(append, time) for append in appends],
            await pack_all(blobs) if blobs else (),
            prepare_cursors(cursors) if cursors else (),
            prepare_snapshots(snapshots) if snapshots else (),
            unchanged or {},
        )
        return await self._writer.do(whole, small=whole.small, appends=appends, then=then)

    async def read(self, stream: Stream, *, after_version: int = 0) -> list[Event]:
        """Return the events of one stream, in order."""
        events = schema.events
        query = select(events).where(events.c.stream == number_of(stream), events.c.version > after_version)
        return await self._read(query.order_by(events.c.version))

    async def read_versions(self, stream: Stream, versions: Sequence[int]) -> list[Event]:
        """Return the events of one stream that have these versions, in order."""
        wanted, column = sorted(set(versions)), schema.events.c.version
        found: list[Event] = []
        for at in range(0, len(wanted), MOST_VERSIONS):
            some = wanted[at : at + MOST_VERSIONS]
            dense = some[-1] - some[0] < 2 * len(some)
            asked = column.between(some[0], some[-1]) if dense else column.in_(some)
            query = select(schema.events).where(schema.events.c.stream == number_of(stream), asked)
            among = frozenset(some)
            found += [event for event in await self._read(query.order_by(column)) if event.stream_version in among]
        return found

    async def read_newest(self, *streams: Stream, prefix: Stream = "") -> list[Event]:
        """Return the newest event of each of these streams, in order of positions; see the port."""
        events, heads, names = schema.events, schema.streams, schema.names
        asked: ColumnElement[bool] = names.c.text.in_(streams)
        if prefix:
            asked = or_(asked, and_(names.c.text >= prefix, names.c.text < prefix + "\U0010ffff"))
        newest = and_(events.c.stream == heads.c.stream, events.c.version == heads.c.version)
        query = select(events).join(heads, newest).join(names, names.c.number == heads.c.stream).where(asked)
        return await self._read(query.order_by(events.c.position))

    async def read_execution(self, execution_id: ExecutionId, *, after: int = 0, limit: int = 1_000) -> list[Event]:
        """Return events of all streams of one execution with a position greater than `after`, in order."""
        events = schema.events
        of_it = events.c.execution_id == number_of(str(execution_id))
        query = select(events).where(of_it, events.c.position > after)
        return await self._read(query.order_by(events.c.position).limit(limit))

    async def read_all(
        self, *, after: int = 0, until: int | None = None, limit: int = 1_000, types: Collection[str] = ()
    ) -> list[Event]:
        """Return events with a position greater than `after`, in order; see the port."""
        events = schema.events
        query = select(events).where(events.c.position > after)
        if until is not None:
            query = query.where(events.c.position <= until)
        if types:
            query = query.where(events.c.type.in_([number_of(each) for each in sorted(types)]))
        return await self._read(query.order_by(events.c.position).limit(limit))

    async def read_streams(self, prefix: str, *, after: int = 0) -> list[Event]:
        """Return the events after a position of all streams whose name starts with `prefix`, in order of positions."""
        events, names = schema.events, schema.names
        query = (
            select(events)
            .join(names, names.c.number == events.c.stream)
            .where(names.c.text >= prefix, names.c.text < prefix + "\U0010ffff", events.c.position > after)
        )
        return await self._read(query.order_by(events.c.position))

    async def streams(
        self, kind: str, *, organisation: str | None = None, last_types: Sequence[str] = (), prefix: str = ""
    ) -> list[Stream]:
        """Return the streams of one kind, oldest first; with `prefix` only those whose name starts with it."""
        streams, names = schema.streams, schema.names
        query = (
            select(names.c.text)
            .join(streams, streams.c.stream == names.c.number)
            .where(streams.c.kind == number_of(kind))
            .order_by(streams.c.first_position)
        )
        if organisation is not None:
            query = query.where(streams.c.organisation == number_of(organisation))
        if last_types:
            query = query.where(streams.c.last_type.in_([number_of(last_type) for last_type in last_types]))
        if prefix:
            query = query.where(names.c.text >= prefix, names.c.text < prefix + "\U0010ffff")
        return [row[0] for row in await self._reader.rows(query)]

    async def newest_streams(
        self, kind: str, *, organisation: str | None = None, before: Stream | None = None, limit: int
    ) -> list[Stream]:
        """Return streams of one kind, newest first; see the port. Only the names of these are read."""
        streams, names = schema.streams, schema.names
        newest = select(streams.c.stream, streams.c.first_position).where(streams.c.kind == number_of(kind))
        if organisation is not None:
            newest = newest.where(streams.c.organisation == number_of(organisation))
        if before is not None and (began := await self._began(before)) is not None:
            newest = newest.where(streams.c.first_position < began)
        elif before is not None:
            newest = newest.join(names, names.c.number == streams.c.stream).where(names.c.text < before)
        some = newest.order_by(streams.c.first_position.desc()).limit(limit).subquery()
        named = select(names.c.text).join(some, some.c.stream == names.c.number)
        return [row[0] for row in await self._reader.rows(named.order_by(some.c.first_position.desc()))]

    async def _began(self, stream: Stream) -> int | None:
        """Return the position of a stream's first event, also of one that was pruned."""
        tables = (schema.streams, schema.tombstones)
        asked = (select(table.c.first_position).where(table.c.stream == number_of(stream)) for table in tables)
        return min((row[0] for row in await self._reader.rows(union_all(*asked))), default=None)

    async def head(self) -> int:
        """Return the greatest position."""
        rows = await self._reader.rows(select(schema.counter.c.position).where(schema.counter.c.id == 1))
        if not rows or not isinstance(rows[0][0], int):
            raise LedgerError(
                "The ledger's counter was removed or changed, so nothing can be written. `silicon audit verify` lists "
                "what was changed; restore the ledger from a backup."
            )
        return int(rows[0][0])

    async def horizon(self) -> int:
        """Return the greatest position at which an event may be missing because it was pruned; 0 for none."""
        ((position,),) = await self._reader.rows(select(func.max(schema.tombstones.c.last_position)))
        return position or 0

    async def cursor(self, name: str) -> int:
        """Return the position that a consumer saved; 0 for a consumer that saved none."""
        consumers = schema.consumers
        rows = await self._reader.rows(select(consumers.c.position).where(consumers.c.name == name))
        return int(rows[0][0]) if rows else 0

    async def cursors(self, prefix: str = "") -> list[Cursor]:
        """Return all saved cursors whose name starts with `prefix`, by name."""
        consumers = schema.consumers
        query = select(consumers.c.name, consumers.c.position, consumers.c.data).order_by(consumers.c.name)
        if prefix:
            query = query.where(consumers.c.name >= prefix, consumers.c.name < prefix + "\U0010ffff")
        return [
            Cursor(name, position, expected=position, data=None if data is None else json.loads(data))
            for name, position, data in await self._reader.rows(query)
        ]

    async def snapshots(self, stream: Stream) -> list[Snapshot]:
        """Return the snapshots of a stream that are there and can be read, by version."""
        snapshots = schema.snapshots
        query = select(snapshots.c.version, snapshots.c.data).where(snapshots.c.stream == number_of(stream))
        found = []
        for version, data in await self._reader.rows(query.order_by(snapshots.c.version)):
            try:
                found.append(Snapshot(stream, version, zlib.decompress(data)))
            except (TypeError, zlib.error):  # what cannot be read is folded again
                continue
        return found

    async def verify(self) -> list[AuditFault]:
        """Check every chain, payload and blob; return what does not fit."""
        return await self._reader.in_snapshot(verify)

    async def erase(self, stream: Stream, version: int) -> None:
        """Remove the payload of one event for good, and record that it was erased.

        The record is an event of the stream `erasure/ORGANISATION`, so that nobody can remove a payload unseen.
        """
        moment = self._clock.now()
        await self._writer.do(lambda transaction: storing.erase(transaction, stream, version, moment))
        await self._reader.flush_erased()

    async def prune(
        self, streams: Mapping[Stream, int], *, reason: str, unchanged: Mapping[Stream, int] | None = None
    ) -> int:
        """Take whole streams away behind tombstones; see the port."""
        kept = [stream for stream in streams if kind_of(stream) in KEPT]
        if kept or not 0 < len(reason) <= 255 or clean_text(reason) != reason:
            raise ValueError(f"Not pruned: {kept or repr(reason)}. Records stay, and a reason has 1 to 255 characters.")
        whole = Pruning(self._clock.now(), dict(streams), dict(unchanged or {}), reason)
        gone = await self._writer.do(lambda transaction: prune(transaction, whole))
        await self._reader.flush_erased()
        return gone

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on the event loop after each commit of this process; return a function that stops it."""
        self._writer.listeners.append(listener)
        return lambda: _forget(self._writer.listeners, listener)

    async def _read(self, query: Select[Any]) -> list[Event]:
        return await self._reader.in_thread(lambda connection: self._events(connection, query))

    def _events(self, connection: Connection, query: Select[Any]) -> list[Event]:
        rows = [StoredEvent._make(row) for row in connection.execute(query)]
        texts = self._texts.of(connection, set().union(*map(names_in, rows)))
        return [_event(row, texts) for row in rows]


def _event(row: StoredEvent, texts: Mapping[int, str]) -> Event:
    try:
        return read_event(row, texts)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        stream = texts.get(row.stream, f"number {row.stream}")
        raise LedgerError(
            f"Event {row.version} of {stream} was changed in the database and can no longer be read. "
            "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
            stream=stream,
            version=row.version,
            position=row.position,
        ) from error


def _forget(listeners: list[Listener], listener: Listener) -> None:
    if listener in listeners:
        listeners.remove(listener)
