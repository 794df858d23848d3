"""A table that is made of events and makes itself: whoever reads it first takes in what was committed since.

So nobody ever reads an old state, whichever process wrote, and the table can be emptied at any time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias

from sqlalchemy import ClauseElement, Table, bindparam, delete, func, insert, select, update

from contracts import Event
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction

_AT_ONCE = 1_000
_PASSED_OVER = 2_000
"""Positions without anything for the table that are rather looked through again than noted: a note is a commit."""
_ID = 1
Rows: TypeAlias = Mapping[str, tuple[object, ...] | None]
"""Key → its row as it stands after the events, in the order of the table's columns; None takes it away."""


class Projection:
    """One table, and the table of one row that says up to which position it knows what happened."""

    def __init__(
        self, store: SqlStore, table: Table, seen: Table, *, types: Collection[str],
        rows: Callable[[Sequence[Event]], Awaitable[Rows]],
    ) -> None:  # fmt: skip
        """Take over what it is made of.

        Args:
            store: the database.
            table: the first of its columns is the key.
            seen: has the columns `id` and `position`.
            types: of the events that matter; those of pruning (`stream.pruned`) come as well.
            rows: makes rows of events, in order of positions.
        """
        self._store = store
        self._table = table
        self._seen = seen
        self._types = (*types, "stream.pruned")
        self._rows = rows

    async def catch_up(self) -> None:
        """Take in what was committed since the table was last brought up to date, by whatever process."""
        ledger = self._store.ledger
        while True:
            seen = await self.position()
            head = await ledger.head()
            if seen == head:
                return
            events = await ledger.read_all(after=seen, until=head, types=self._types, limit=_AT_ONCE)
            if not events and head - seen < _PASSED_OVER:
                return
            rows = await self._rows(events)
            upto = events[-1].position if len(events) == _AT_ONCE else head
            await self._store.writer.do(partial(self._take_in, seen=seen, upto=upto, rows=rows), small=True)

    async def rebuild(self) -> int:
        """Make the table again from the events; return how many rows there are."""
        sql = [self._compiled(delete(table)) for table in (self._table, self._seen)]

        def empty(tx: Transaction) -> None:
            for each in sql:
                tx.run(each)

        await self._store.writer.do(empty, small=True)
        await self.catch_up()
        return int((await self._store.reader.rows(select(func.count()).select_from(self._table)))[0][0])

    async def position(self) -> int:
        """Return up to which position the table knows what happened."""
        rows = await self._store.reader.rows(select(self._seen.c.position))
        return int(rows[0][0]) if rows else 0

    def _take_in(self, tx: Transaction, seen: int, upto: int, rows: Rows) -> None:
        """Write the rows, unless another process was quicker; it had read as much."""
        sql = self._sql
        stands = tx.one(sql["stands"])
        if (stands is None and seen) or (stands is not None and int(stands[0]) != seen):
            return
        for key, row in rows.items():
            tx.run(sql["gone"], key)
            if row is not None:
                tx.run(sql["put"], *row)
        if stands is None:
            tx.run(sql["begin"], _ID, upto)
        else:
            tx.run(sql["move"], upto)

    @cached_property
    def _sql(self) -> Mapping[str, str]:
        """The statements of the writer, compiled once: that takes longer than they do."""
        key = next(iter(self._table.columns))
        return {
            "stands": self._compiled(select(self._seen.c.position)),
            "gone": self._compiled(delete(self._table).where(key == bindparam("k")), "k"),
            "put": self._compiled(insert(self._table), *self._table.columns.keys()),
            "begin": self._compiled(insert(self._seen), "id", "position"),
            "move": self._compiled(update(self._seen).values(position=bindparam("p")), "p"),
        }

    def _compiled(self, statement: ClauseElement, *names: str) -> str:
        return compiled(self._store.database.engine.dialect, statement, *names)


def pruned_stream(event: Event) -> str:
    """Return the stream that an event is about: of a pruning, the one that was pruned."""
    return str((event.data or {}).get("stream")) if event.type == "stream.pruned" else event.subject
