"""Events that are only streamed, such as the words of a model: collected for a moment, then stored together.

They have a sequence of their own and stand outside the chain. A process that dies loses those of the last moment; the
answer that they make up is an event of the ledger, and that one is never lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from contracts import ExecutionId
from runtime.clock import Clock
from runtime.errors import LedgerError
from runtime.ledger import schema
from runtime.ledger.facts import payload_of
from runtime.ledger.port import Fragment, NewEvent, Stream
from runtime.ledger.reader import Reader
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.texts import number_of
from runtime.ledger.transaction import Transaction
from runtime.ledger.writer import Writer
from runtime.settings.groups import LedgerSettings

MOST_WAITING = 10_000
"""While the ledger is away, older ones are dropped: nobody waits for the words of an hour ago."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    stream: Stream
    execution_id: ExecutionId | None
    type: str
    time: int
    data: bytes


class SqlFragments:
    """The port `Fragments` on one database."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock, settings: LedgerSettings) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._settings = settings
        self._texts = reader.texts()
        self._waiting: list[_Waiting] = []
        self._alone = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._told = False
        """Whether it was said that the ledger is away; once is enough."""

    def write(self, stream: Stream, event: NewEvent, *, execution_id: ExecutionId | None = None) -> None:
        """Take one in; it is stored with the next flush."""
        data = payload_of(stream, event)
        now = time_to_number(self._clock.now())
        self._waiting.append(_Waiting(stream, execution_id, event.type, now, data))
        if len(self._waiting) >= self._settings.flush_events:
            self._start()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._settings.flush_ms / 1_000, self._start)

    async def flush(self) -> None:
        """Return once everything written so far is stored; see the port."""
        async with self._alone:  # one after the other, so that none overtakes another
            rows, self._waiting = self._waiting, []
            if not rows:
                return
            try:
                await self._writer.do(lambda transaction: _store(transaction, rows))
            except LedgerError:
                self._waiting = [*rows, *self._waiting][-MOST_WAITING:]
                raise

    async def read(self, *, after: int = 0, stream: Stream | None = None, limit: int = 1_000) -> list[Fragment]:
        """Return those with a greater number than `after`, in order."""
        return await self._reader.in_thread(lambda connection: self._read(connection, after, stream, limit))

    async def head(self) -> int:
        """Return the greatest number there is."""
        query = select(func.coalesce(func.max(schema.fragments.c.seq), 0))
        return int(await self._reader.in_thread(lambda connection: connection.execute(query).scalar_one()))

    async def newest(self, streams: Collection[Stream], *, limit: int = 1_000) -> list[Fragment]:
        """Return the newest of these streams together, the newest first."""
        if not streams:
            return []
        fragments = schema.fragments
        named = fragments.c.stream.in_([number_of(stream) for stream in streams])
        query = select(fragments).where(named).order_by(fragments.c.seq.desc()).limit(limit)
        return await self._reader.in_thread(lambda connection: self._rows(connection, query))

    async def close(self) -> None:
        """Store what waits."""
        if self._timer is not None:
            self._timer.cancel()
        if self._flushing is not None:
            await self._flushing
        try:
            await self.flush()
        except LedgerError as error:
            _log.warning("%d fragments could not be stored: %s", len(self._waiting), error)

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush_in_time())

    async def _flush_in_time(self) -> None:
        try:
            await self.flush()
        except LedgerError as error:
            if not self._told:
                _log.warning("fragments could not be stored yet: %s", error)
            self._told = True
        else:
            self._told = False
        if self._waiting and self._timer is None:  # those that came meanwhile, or could not be stored
            self._timer = asyncio.get_running_loop().call_later(self._settings.flush_ms / 1_000, self._start)

    def _read(self, connection: Connection, after: int, stream: Stream | None, limit: int) -> list[Fragment]:
        fragments = schema.fragments
        query = select(fragments).where(fragments.c.seq > after).order_by(fragments.c.seq).limit(limit)
        if stream is not None:
            query = query.where(fragments.c.stream == number_of(stream))
        return self._rows(connection, query)

    def _rows(self, connection: Connection, query: Select[Any]) -> list[Fragment]:
        rows = connection.execute(query).all()
        texts = self._texts.of(
            connection, {number for row in rows for number in (row.stream, row.execution_id, row.type) if number}
        )
        return [
            Fragment(
                seq=row.seq,
                stream=texts[row.stream],
                execution_id=None if row.execution_id is None else ExecutionId(texts[row.execution_id]),
                type=texts[row.type],
                time=time_from_number(row.time),
                data=json.loads(row.data),
            )
            for row in rows
        ]


def _store(transaction: Transaction, rows: Sequence[_Waiting]) -> None:
    number = transaction.number_of
    for row in rows:
        transaction.run(
            transaction.statements.insert_fragment,
            number(row.stream),
            None if row.execution_id is None else number(row.execution_id),
            number(row.type),
            row.time,
            row.data,
        )
