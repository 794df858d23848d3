"""Pruning by the server itself, once a day at the hour that the settings name; no cron is needed then."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, time, timedelta

from console.resources import Resources
from governance.asked import still_asks
from governance.costs import CostBook
from runtime import keeping
from runtime.errors import LedgerError
from runtime.executor.holder import this_process
from runtime.ledger.port import Lease
from runtime.ledger.store import SqlStore

LEASE = "pruning"
LEASE_S = 3_600.0
"""Longer than a pruning takes; of several servers only the one that holds it prunes."""
LOOK_S = 60.0
"""How often the clock is looked at: it may be set, and the machine may sleep."""

_log = logging.getLogger(__name__)


async def prune_daily(resources: Resources, *, look_s: float = LOOK_S) -> None:
    """Prune each day at `retention.prune_at`, until cancelled; return at once where that is empty."""
    hour = resources.settings.retention.prune_at
    if not hour:
        return
    due = next_at(resources.clock.now(), hour)
    while True:
        await asyncio.sleep(look_s)
        if resources.clock.now() >= due:
            due = next_at(resources.clock.now(), hour)
            await _prune(resources)


def next_at(now: datetime, hour: str) -> datetime:
    """Return the next moment at which it is `hour`, such as 03:30, in UTC."""
    today = datetime.combine(now.astimezone(UTC).date(), time.fromisoformat(hour), UTC)
    return today if today > now else today + timedelta(days=1)


async def _prune(resources: Resources) -> None:
    """Prune once, unless another server does; what fails is told and done the next day."""
    try:
        store = await resources.store()
        lease = await store.leases.acquire(LEASE, this_process(), LEASE_S)
        if lease is None:
            return
        try:
            await _prune_held(resources, store)
        finally:
            await _give_back(store, lease)
    except LedgerError as error:
        _log.warning("nothing more is pruned today: %s", error)
    except Exception:  # a fault of the program must not end the server
        _log.exception("pruning failed on a fault of the program")


async def _prune_held(resources: Resources, store: SqlStore) -> None:
    retention = resources.settings.retention
    await CostBook(store.ledger).catch_up()  # what is pruned has cost what it has cost
    pruned = await keeping.prune(
        store,
        resources.clock,
        days=retention.executions_days,
        stream_only_days=retention.stream_only_days,
        still_asks=still_asks,
    )
    _log.info(
        "pruned %d executions, %d events, %d blobs and %d fragments; %d are under a hold, %d in use",
        len(pruned.executions), pruned.events, pruned.blobs, pruned.fragments, len(pruned.held), len(pruned.in_use),
    )  # fmt: skip


async def _give_back(store: SqlStore, lease: Lease) -> None:
    try:
        await store.leases.release(lease)
    except LedgerError as error:
        _log.info("the lease %s runs out by itself: %s", lease.name, error)
