"""Which servers live is told by leases that bear host and process."""

from __future__ import annotations

import asyncio

import pytest

from runtime.errors import LedgerUnavailable
from runtime.executor.holder import host_and_pid, this_process
from runtime.executor.presence import be_present, servers
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings
from tests.fakes.clock import HandClock
from tests.runtime.executor.bodies import until

pytestmark = pytest.mark.anyio
FAST = ExecutorSettings(renew_s=0.01)


async def test_a_server_is_seen_while_it_lives_and_no_longer(store: SqlStore, clock: HandClock) -> None:
    async def seen() -> bool:
        return bool(await servers(store.leases))

    being = asyncio.create_task(be_present(store.leases, this_process(), FAST))
    await until(seen)
    (lease,) = await servers(store.leases)
    clock.advance(10)
    await until(lambda: renewed(store, clock))
    being.cancel()
    await asyncio.wait([being])

    assert lease.name == "server/" + "/".join(host_and_pid(this_process()))
    assert await store.leases.live() == []


async def renewed(store: SqlStore, clock: HandClock) -> bool:
    (lease,) = await store.leases.live()
    return (lease.expires_at - clock.now()).total_seconds() == FAST.lease_s


async def test_a_ledger_that_goes_away_does_not_end_it(
    sqlite_store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def away(*_: object) -> None:
        asked.set()
        raise LedgerUnavailable("The ledger is gone.")

    with monkeypatch.context() as gone:
        gone.setattr(sqlite_store.leases, "acquire", away)
        being = asyncio.create_task(be_present(sqlite_store.leases, this_process(), FAST))
        await asked.wait()

    async def seen() -> bool:
        return bool(await servers(sqlite_store.leases))

    await until(seen)
    being.cancel()
    await asyncio.wait([being])


async def test_the_place_of_a_dead_process_with_the_same_number_is_taken(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    host, machine, pid, started = this_process().split("/")
    dead = "/".join((host, machine, pid, str(int(started) - 1)))
    await sqlite_store.leases.acquire(f"server/{host}/{pid}", dead, 15)
    assert await servers(sqlite_store.leases) == []

    being = asyncio.create_task(be_present(sqlite_store.leases, this_process(), FAST))

    async def seen() -> bool:
        return [lease.holder for lease in await servers(sqlite_store.leases)] == [this_process()]

    await until(seen)
    being.cancel()
    await asyncio.wait([being])
