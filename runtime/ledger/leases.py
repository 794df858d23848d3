"""Leases: rows that stay for ever, so that their fences only grow."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select

from runtime.clock import Clock
from runtime.errors import StaleWriter
from runtime.ledger import schema
from runtime.ledger.port import Lease
from runtime.ledger.reader import Reader
from runtime.ledger.rows import time_from_number, time_to_number
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
        return await self._writer.do(
            lambda transaction: acquire(transaction, name, holder, ttl_s, self._clock.now()), small=True
        )

    async def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raise StaleWriter when somebody else has it or it was released."""
        return await self._writer.do(
            lambda transaction: renew(transaction, lease, ttl_s, self._clock.now()), small=True
        )

    async def release(self, lease: Lease) -> None:
        """Give the lease back; does nothing when it was lost meanwhile."""
        await self._writer.do(lambda transaction: release(transaction, lease, self._clock.now()), small=True)

    async def live(self, prefix: str = "") -> list[Lease]:
        """Return the leases that have not run out and whose name starts with `prefix`."""
        leases = schema.leases
        query = select(leases).where(
            leases.c.holder != RELEASED, leases.c.expires_at > time_to_number(self._clock.now())
        )
        # the name is looked at here: by the time alone, the index gives the few that live, of all that ever were
        rows = [row for row in await self._reader.rows(query) if row[0].startswith(prefix)]
        return [Lease(name, holder, fence, time_from_number(expires)) for name, holder, fence, expires in sorted(rows)]


def acquire(transaction: Transaction, name: str, holder: str, ttl_s: float, now: datetime) -> Lease | None:
    """Take a lease inside a transaction of the writer; None while somebody else holds a live one."""
    expires = now + timedelta(seconds=ttl_s)
    row = transaction.one(transaction.statements.lease, name)
    if row is None:
        transaction.run(transaction.statements.insert_lease, name, holder, 1, time_to_number(expires))
        return Lease(name, holder, 1, expires)
    _, held_by, fence, expires_at = row
    if held_by not in (RELEASED, holder) and expires_at > time_to_number(now):
        return None
    transaction.run(transaction.statements.move_lease, holder, fence + 1, time_to_number(expires), name)
    return Lease(name, holder, fence + 1, expires, taken_over=held_by not in (RELEASED, holder))


def renew(transaction: Transaction, lease: Lease, ttl_s: float, now: datetime) -> Lease:
    """Prolong a lease inside a transaction of the writer; raise StaleWriter when it was lost."""
    if not holds(transaction, lease):
        raise StaleWriter(
            f"{lease.holder} no longer holds {lease.name}; another process may have taken over.",
            name=lease.name,
            holder=lease.holder,
            fence=lease.fence,
        )
    expires = now + timedelta(seconds=ttl_s)
    transaction.run(transaction.statements.move_lease, lease.holder, lease.fence, time_to_number(expires), lease.name)
    return Lease(lease.name, lease.holder, lease.fence, expires)


def release(transaction: Transaction, lease: Lease, now: datetime) -> None:
    """Give a lease back inside a transaction of the writer; does nothing when it was lost."""
    if holds(transaction, lease):
        transaction.run(transaction.statements.move_lease, RELEASED, lease.fence, time_to_number(now), lease.name)


def holds(transaction: Transaction, lease: Lease) -> bool:
    """Whether the lease is still the one that its row tells of."""
    row = transaction.one(transaction.statements.lease, lease.name)
    return row is not None and row[1:3] == (lease.holder, lease.fence)
