"""Whose turn it is: of several servers on one database, one watches an organisation at a time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from contracts import Name
from runtime.clock import Clock
from runtime.errors import LedgerError, StaleWriter
from runtime.executor.holder import is_gone
from runtime.ledger.port import Lease, Leases
from runtime.settings.groups import ExecutorSettings


def lease_of(organisation: Name) -> str:
    """Return the name of the lease under which an organisation is watched."""
    return f"beat/{organisation}"


class Turn:
    """The lease under which a process watches one organisation. All it appends is proven by it."""

    def __init__(
        self, leases: Leases, organisation: Name, holder: str, clock: Clock, settings: ExecutorSettings
    ) -> None:  # fmt: skip
        self._leases = leases
        self._name = lease_of(organisation)
        self._holder = holder
        self._clock = clock
        self._settings = settings
        self._lease: Lease | None = None

    async def take(self) -> Lease | None:
        """Return the lease, taken or renewed where it is time to, or None while another process has it.

        One whose holder died on this machine is taken over at once, any other once it has run out.
        """
        if self._lease is not None:
            renewed_before = self._lease.expires_at - timedelta(seconds=self._settings.lease_s - self._settings.renew_s)
            if self._clock.now() < renewed_before:
                return self._lease
            try:
                self._lease = await self._leases.renew(self._lease, self._settings.lease_s)
            except StaleWriter:
                self._lease = None
            else:
                return self._lease
        self._lease = await self._leases.acquire(self._name, self._holder, self._settings.lease_s)
        if self._lease is None and await self._bury():
            self._lease = await self._leases.acquire(self._name, self._holder, self._settings.lease_s)
        return self._lease

    def lost(self) -> None:
        """Forget the lease: somebody else has it."""
        self._lease = None

    async def give_back(self) -> None:
        """Let another process have its turn at once; where the ledger is away, the lease runs out by itself."""
        lease, self._lease = self._lease, None
        if lease is not None:
            with suppress(LedgerError):
                await asyncio.shield(self._leases.release(lease))

    async def _bury(self) -> bool:
        """Release the lease of a process that is gone; return whether there was one."""
        for held in await self._leases.live(self._name):
            if held.name == self._name and is_gone(held.holder):
                await self._leases.release(held)
                return True
        return False
