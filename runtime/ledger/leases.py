"""Leases: rows that stay for ever, so that their fences only grow."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select

from runtime.clock import Clock
from runtime.errors import StaleWriter
from runtime.ledger import schema
from runtime.ledger.port import Lease
from runtime.ledger.reader import Reader
from runtime.ledger.rows import time_from_text, time_to_text
from runtime.ledger.transaction import Transaction
from runtime.ledger.writer import Writer

RELEASED = ""


class SqlLeases:
    """The port `Leases` on one database."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None:
        """Return a new lease with a greater fence, or None while somebody else holds a live one."""
        if not (0 < len(name) <= 255 and 0 < len(holder) <= 255):
            raise ValueError(f"A lease needs a name and a holder of 1 to 255 characters, not {name!r} and {holder!r}.")
        return await self._writer.do(lambda transaction: _acquire(transaction, name, holder, ttl_s, self._clock.now()))

    async def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raise StaleWriter when somebody else has it or it was released."""
        return await self._writer.do(lambda transaction: _renew(transaction, lease, ttl_s, self._clock.now()))

    async def release(self, lease: Lease) -> None:
        """Give the lease back; does nothing when it was lost meanwhile."""
        await self._writer.do(lambda transaction: _release(transaction, lease, self._clock.now()))

    async def live(self, prefix: str = "") -> list[Lease]:
        """Return the leases that have not run out and whose name starts with `prefix`."""
        leases = schema.leases
        query = select(leases).where(leases.c.holder != RELEASED, leases.c.expires_at > time_to_text(self._clock.now()))
        if prefix:
            query = query.where(leases.c.name >= prefix, leases.c.name < prefix + "\U0010ffff")
        rows = await self._reader.rows(query.order_by(leases.c.name))
        return [Lease(name, holder, fence, time_from_text(expires)) for name, holder, fence, expires in rows]


def _acquire(transaction: Transaction, name: str, holder: str, ttl_s: float, now: datetime) -> Lease | None:
    expires = now + timedelta(seconds=ttl_s)
    row = transaction.one(transaction.statements.lease, name)
    if row is None:
        transaction.run(transaction.statements.insert_lease, name, holder, 1, time_to_text(expires))
        return Lease(name, holder, 1, expires)
    _, held_by, fence, expires_at = row
    if held_by not in (RELEASED, holder) and expires_at > time_to_text(now):
        return None
    transaction.run(transaction.statements.move_lease, holder, fence + 1, time_to_text(expires), name)
    return Lease(name, holder, fence + 1, expires)


def _renew(transaction: Transaction, lease: Lease, ttl_s: float, now: datetime) -> Lease:
    if not _holds(transaction, lease):
        raise StaleWriter(
            f"{lease.holder} no longer holds {lease.name}; another process may have taken over.",
            name=lease.name,
            holder=lease.holder,
            fence=lease.fence,
        )
    expires = now + timedelta(seconds=ttl_s)
    transaction.run(transaction.statements.move_lease, lease.holder, lease.fence, time_to_text(expires), lease.name)
    return Lease(lease.name, lease.holder, lease.fence, expires)


def _release(transaction: Transaction, lease: Lease, now: datetime) -> None:
    if _holds(transaction, lease):
        transaction.run(transaction.statements.move_lease, RELEASED, lease.fence, time_to_text(now), lease.name)


def _holds(transaction: Transaction, lease: Lease) -> bool:
    row = transaction.one(transaction.statements.lease, lease.name)
    return row is not None and row[1:3] == (lease.holder, lease.fence)
