"""Leases and their fences, over each real database."""

from __future__ import annotations

import asyncio

import pytest

from runtime.errors import StaleWriter
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


async def test_only_one_of_many_gets_the_lease(store: SqlStore) -> None:
    got = await asyncio.gather(*(store.leases.acquire("slot/a", f"holder-{n}", 15) for n in range(10)))

    assert sum(lease is not None for lease in got) == 1


async def test_the_fence_grows_with_each_lease_and_after_a_release(store: SqlStore, clock: HandClock) -> None:
    fences = []
    for holder in ("a", "b", "c"):
        lease = await store.leases.acquire("slot/a", holder, 15)
        assert lease is not None
        fences.append(lease.fence)
        if holder == "a":
            await store.leases.release(lease)
        clock.advance(16)

    assert fences == [1, 2, 3]


async def test_a_lease_that_ran_out_can_be_taken_by_another(store: SqlStore, clock: HandClock) -> None:
    await store.leases.acquire("slot/a", "a", 15)
    clock.advance(14)
    assert await store.leases.acquire("slot/a", "b", 15) is None
    clock.advance(1)

    assert await store.leases.acquire("slot/a", "b", 15) is not None


async def test_a_renewed_lease_lives_on(store: SqlStore, clock: HandClock) -> None:
    lease = await store.leases.acquire("slot/a", "a", 15)
    assert lease is not None
    clock.advance(10)
    renewed = await store.leases.renew(lease, 15)
    clock.advance(10)

    assert renewed.fence == lease.fence
    assert await store.leases.live() == [renewed]


async def test_a_lost_lease_cannot_be_renewed_and_its_release_does_nothing(store: SqlStore, clock: HandClock) -> None:
    lost = await store.leases.acquire("slot/a", "a", 15)
    assert lost is not None
    clock.advance(15)
    held = await store.leases.acquire("slot/a", "b", 15)

    with pytest.raises(StaleWriter):
        await store.leases.renew(lost, 15)
    await store.leases.release(lost)

    assert await store.leases.live() == [held]


async def test_live_leases_are_told_by_prefix(store: SqlStore, clock: HandClock) -> None:
    for name in ("slot/a", "slot/b", "execution/a"):
        await store.leases.acquire(name, "me", 15)
    released = await store.leases.acquire("slot/c", "me", 15)
    assert released is not None
    await store.leases.release(released)

    assert [lease.name for lease in await store.leases.live("slot/")] == ["slot/a", "slot/b"]
    clock.advance(15)
    assert await store.leases.live() == []
