"""What goes on beside the work: the lease is kept alive, and a request to cancel is noticed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from contracts import Event
from runtime.errors import LedgerUnavailable, StaleWriter
from runtime.executor.states import CANCEL_REQUESTED
from runtime.ledger.port import Lease, Store
from runtime.settings.groups import ExecutorSettings

LOOK_S = 0.5
"""How often requests to cancel from other processes are looked for."""

_log = logging.getLogger(__name__)


class Guard:
    """Watches over one stretch of work."""

    def __init__(
        self, store: Store, settings: ExecutorSettings, lease: Lease, *, version: int, cancelled: bool
    ) -> None:
        self.lease = lease
        self.cancelled = cancelled
        self._store = store
        self._settings = settings
        self._version = version

    async def keep_lease(self) -> StaleWriter:
        """Renew the lease until it is lost, and return why; a ledger that is away for less than a lease is borne."""
        failed_for_s = 0.0
        while True:
            await asyncio.sleep(self._settings.renew_s)
            try:
                self.lease = await self._store.leases.renew(self.lease, self._settings.lease_s)
                failed_for_s = 0.0
            except StaleWriter as lost:
                return lost
            except LedgerUnavailable as error:
                failed_for_s += self._settings.renew_s
                _log.warning("the lease %s could not be renewed: %s", self.lease.name, error)
                if failed_for_s >= self._settings.lease_s:
                    return self._ran_out()

    async def wait_for_cancel(self) -> None:
        """Return when a request to cancel was seen and the time to end in good order is over."""
        seen = asyncio.Event()

        def listen(events: Sequence[Event]) -> None:
            if any(event.subject == self.lease.name and event.type == CANCEL_REQUESTED for event in events):
                seen.set()

        stop = self._store.ledger.on_commit(listen)
        try:
            while not (self.cancelled or seen.is_set()):
                await self._look(seen)
        finally:
            stop()
        self.cancelled = True
        await asyncio.sleep(self._settings.cancel_most_s)

    async def _look(self, seen: asyncio.Event) -> None:
        """Wait for a commit of this process, and look for those of others."""
        try:
            async with asyncio.timeout(LOOK_S):
                await seen.wait()
                return
        except TimeoutError:
            pass
        try:
            news = await self._store.ledger.read(self.lease.name, after_version=self._version)
        except LedgerUnavailable as error:
            _log.warning("requests to cancel %s could not be looked for: %s", self.lease.name, error)
            return
        for event in news:
            self._version = event.stream_version
            if event.type == CANCEL_REQUESTED:
                seen.set()

    def _ran_out(self) -> StaleWriter:
        return StaleWriter(
            f"The lease of {self.lease.name} ran out while the ledger could not be reached.",
            name=self.lease.name,
            holder=self.lease.holder,
            fence=self.lease.fence,
        )
