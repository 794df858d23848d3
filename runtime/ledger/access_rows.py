"""Rows of what people prove themselves by; beside the ledger, because no secret may stand in it for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from runtime.clock import Clock
from runtime.ledger.rows import time_from_number, time_to_number
from runtime.ledger.schema import access
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One row."""

    name: str
    owner: str
    changed_at: datetime
    data: Mapping[str, Any]


class AccessRows:
    """Get, put and take away; whatever is called here is on disk when it returns."""

    def __init__(self, store: SqlStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def get(self, name: str) -> AccessRow | None:
        """Return a row, or None."""
        rows = await self._store.reader.rows(select(access).where(access.c.name == name))
        return _row(rows[0]) if rows else None

    async def of(self, owner: str) -> Sequence[AccessRow]:
        """Return the rows of an owner, by name."""
        query = select(access).where(access.c.owner == owner).order_by(access.c.name)
        return [_row(row) for row in await self._store.reader.rows(query)]

    async def put(self, name: str, owner: str, data: Mapping[str, Any], *, and_drop: Sequence[str] = ()) -> None:
        """Store a row in the place of the one of that name; in the same commit take the rows `and_drop` away."""
        values = (name, owner, time_to_number(self._clock.now()), json.dumps(data).encode())

        def job(transaction: Transaction) -> None:
            for each in (name, *and_drop):
                transaction.run(self._delete, each)
            transaction.run(self._insert, *values)

        await self._store.writer.do(job, small=True)

    async def change(self, row: AccessRow, data: Mapping[str, Any]) -> None:
        """Give a row other data where it still is as it was read; one that was taken away or changed stays so."""
        values = (time_to_number(self._clock.now()), json.dumps(data).encode(), row.name, json.dumps(row.data).encode())
        await self._store.writer.do(lambda transaction: transaction.run(self._update, *values), small=True)

    async def drop(self, *names: str) -> None:
        """Take rows away; those that are not there are passed over."""

        def job(transaction: Transaction) -> None:
            for name in names:
                transaction.run(self._delete, name)

        if names:
            await self._store.writer.do(job, small=True)

    @cached_property
    def _delete(self) -> str:
        return compiled(self._store.database.engine.dialect, delete(access).where(access.c.name == bindparam("n")), "n")

    @cached_property
    def _update(self) -> str:
        of = (access.c.name == bindparam("n"), access.c.data == bindparam("was"))
        changed = update(access).where(*of).values(changed_at=bindparam("at"), data=bindparam("new"))
        return compiled(self._store.database.engine.dialect, changed, "at", "new", "n", "was")

    @cached_property
    def _insert(self) -> str:
        return compiled(self._store.database.engine.dialect, insert(access), *access.columns.keys())


def _row(row: Any) -> AccessRow:
    return AccessRow(row.name, row.owner, time_from_number(row.changed_at), json.loads(bytes(row.data)))
