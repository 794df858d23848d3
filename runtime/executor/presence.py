"""Which servers live: each holds a lease that bears its host and process id."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from runtime.errors import LedgerError, StaleWriter
from runtime.executor.holder import host_and_pid, is_gone
from runtime.ledger.port import Lease, Leases
from runtime.settings.groups import ExecutorSettings

_KIND = "server/"

_log = logging.getLogger(__name__)


async def be_present(leases: Leases, holder: str, settings: ExecutorSettings) -> None:
    """Hold the lease of this server until cancelled; a ledger that goes away is asked again for ever.

    `holder` is the name of the process, as `this_process` gives it.
    """
    host, pid = host_and_pid(holder)
    name = f"{_KIND}{host}/{pid}"
    lease: Lease | None = None
    try:
        while True:
            try:
                lease = await _hold(leases, name, holder, lease, settings.lease_s)
            except StaleWriter:
                lease = None
                continue
            except LedgerError as error:
                _log.info("the lease %s could not be renewed: %s", name, error)
            await asyncio.sleep(settings.renew_s)
    finally:
        if lease is not None:
            with suppress(LedgerError):
                await leases.release(lease)


async def servers(leases: Leases) -> Sequence[Lease]:
    """Return the leases of the servers that live, by host and process id."""
    return [lease for lease in await leases.live(_KIND) if not is_gone(lease.holder)]


async def _hold(leases: Leases, name: str, holder: str, lease: Lease | None, ttl_s: float) -> Lease | None:
    if lease is not None:
        return await leases.renew(lease, ttl_s)
    for dead in await leases.live(name):
        if dead.name == name and is_gone(dead.holder):  # an earlier process of the same number
            await leases.release(dead)
    return await leases.acquire(name, holder, ttl_s)
