"""What goes on beside the work: the lease is kept alive, and a request to cancel is noticed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from runtime.errors import LedgerUnavailable, StaleWriter
from runtime.executor.lookout import Lookout
from runtime.executor.requests import Requests
from runtime.executor.view import ExecutionView
from runtime.ledger.grip import Grip
from runtime.ledger.port import Lease, Store
from runtime.settings.groups import ExecutorSettings

_log = logging.getLogger(__name__)


class Guard:
    """Watches over one stretch of work."""

    def __init__(
        self, store: Store, settings: ExecutorSettings, lease: Lease, view: ExecutionView, lookout: Lookout
    ) -> None:
        self.lease = lease
        self.requests = Requests(store.ledger, lookout, view)
        self._store = store
        self._settings = settings
        self._grip = Grip(settings.lease_s, self._renew)

    async def keep_lease(self) -> StaleWriter:
        """Renew the lease until it is lost, and return why; a ledger that is away for less than a lease is borne."""
        while True:
            await asyncio.sleep(self._settings.renew_s)
            try:
                await self._grip.renew()
            except StaleWriter as lost:
                return lost
            except LedgerUnavailable as error:
                _log.warning("the lease %s could not be renewed: %s", self.lease.name, error)
                if self._grip.left_s <= 0:
                    return self._ran_out()

    async def still_held(self) -> None:
        """Return when the lease is surely held, even if this process was stopped; raise StaleWriter when it is not."""
        await self._grip.still_held()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the execution to stop."""
        return self.requests.cancelled

    @property
    def cancelled_branches(self) -> Collection[str]:
        """Branches that somebody asked to stop, by name."""
        return self.requests.cancelled_branches

    async def wait_for_cancel(self) -> None:
        """Return when a request to cancel was seen and the time to end in good order is over."""
        await self.requests.heed()
        await asyncio.sleep(self._settings.cancel_most_s)

    async def _renew(self) -> float:
        self.lease = await self._store.leases.renew(self.lease, self._settings.lease_s)
        return self._settings.lease_s

    def _ran_out(self) -> StaleWriter:
        return StaleWriter(
            f"The lease of {self.lease.name} ran out while the ledger could not be reached.",
            name=self.lease.name,
            holder=self.lease.holder,
            fence=self.lease.fence,
        )
