from __future__ import annotations

import asyncio

import pytest

from cluster.sandbox.rlimits import RlimitsDriver
from contracts import OrderState, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.errors import StaleWriter
from runtime.ledger.port import Lease
from runtime.settings import SlotSettings
from tests.cluster.conftest import Rig
from tests.fakes.orders import an_order
from tests.fakes.step_engine import Engines, LosesItsLease, OneStepEngine

pytestmark = pytest.mark.anyio


async def test_the_folder_of_the_slot_is_gone_and_the_slot_is_free_afterwards(rig: Rig, order: TaskOrder) -> None:
    engines = Engines(rig.store)
    await rig.gateway(engines).submit(order)

    engine = await engines.next_begun()
    assert engine.folder is not None
    assert not engine.folder.exists()
    assert await rig.store.leases.live("slot/") == []


async def test_with_one_slot_the_second_order_waits_for_the_first(rig: Rig) -> None:
    may_end = asyncio.Event()
    engines = Engines(rig.store, may_end)
    gateway = rig.gateway(engines, SlotSettings(count=1, allocate_s=5))
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        both = [tasks.create_task(gateway.submit(an_order())) for _ in range(2)]
        await engines.next_begun()
        assert engines.count == 1
        may_end.set()

    assert [task.result().state for task in both] == [OrderState.DONE, OrderState.DONE]


async def test_an_order_that_finds_no_slot_is_reported_and_nothing_ran(rig: Rig, order: TaskOrder) -> None:
    await rig.store.leases.acquire(rig.node.lease_name(0), "somebody", 60)

    report = await rig.gateway(lambda leases: OneStepEngine(rig.store, leases)).submit(order)

    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert report.error.code == "NO_SLOT_FREE"
    assert await rig.store.ledger.read(order.order_id) == []


async def test_a_lost_lease_cancels_the_run_and_it_goes_on_in_another_slot(rig: Rig, order: TaskOrder) -> None:
    engines = Engines(rig.store, asyncio.Event())
    run = asyncio.create_task(rig.gateway(engines, SlotSettings(count=1, lease_s=0.15, allocate_s=5)).submit(order))
    async with asyncio.timeout(60):
        first = await engines.next_begun()
        rig.clock.advance(60)
        thief = await rig.store.leases.acquire(rig.node.lease_name(0), "somebody", 60)
        assert thief is not None
        await first.ended.wait()
        await rig.store.leases.release(thief)
        report = await run
        second = await engines.next_begun()

    assert report.state is OrderState.DONE
    assert second.allocation is not None
    assert second.allocation.fence > thief.fence


async def test_an_order_that_loses_every_slot_is_reported(rig: Rig, order: TaskOrder) -> None:
    async def take(lease: Lease) -> None:
        rig.clock.advance(60)
        taken = await rig.store.leases.acquire(lease.name, "somebody", 60)
        assert taken is not None
        await rig.store.leases.release(taken)

    report = await rig.gateway(lambda leases: LosesItsLease(lambda: take(leases[0]))).submit(order)

    assert report.error is not None
    assert report.error.code == "SLOT_LOST"


async def test_an_order_that_loses_its_slot_before_it_is_sealed_is_sealed_in_another(
    rig: Rig, order: TaskOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Done:
        async def run(self, order: TaskOrder, **_: object) -> StatusReport:
            return StatusReport(order_id=order.order_id, state=OrderState.DONE)

    empty, thefts = RlimitsDriver.close, [rig.node.lease_name(0)]

    async def close(driver: RlimitsDriver, sandbox: Sandbox) -> None:
        await empty(driver, sandbox)
        for name in thefts:
            rig.clock.advance(60)
            taken = await rig.store.leases.acquire(name, "somebody", 60)
            assert taken is not None
            await rig.store.leases.release(taken)
        thefts.clear()

    monkeypatch.setattr(RlimitsDriver, "close", close)
    report = await rig.gateway(lambda leases: Done()).submit(order)

    assert report.state is OrderState.DONE
    assert len(report.evidence) == 1


async def test_another_lease_that_was_lost_ends_the_whole_run(rig: Rig, order: TaskOrder) -> None:
    async def nothing() -> None:
        return

    with pytest.raises(StaleWriter):
        await rig.gateway(lambda leases: LosesItsLease(nothing)).submit(order)

    assert await rig.store.leases.live("slot/") == []


async def test_a_cancelled_order_gives_its_slot_back(rig: Rig, order: TaskOrder) -> None:
    engine = OneStepEngine(rig.store, (), may_end=asyncio.Event())
    run = asyncio.create_task(rig.gateway(lambda leases: engine).submit(order))
    async with asyncio.timeout(60):
        await engine.began.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    assert await rig.store.leases.live("slot/") == []
    assert engine.folder is not None
    assert not engine.folder.exists()


async def test_what_a_killed_process_left_in_a_slot_is_removed(rig: Rig, order: TaskOrder) -> None:
    left = rig.home / "slots" / f"{rig.node.slot_id(0).ulid}-0"
    left.mkdir(parents=True)
    (left / "old").touch()

    await rig.gateway(lambda leases: OneStepEngine(rig.store, leases)).submit(order)

    assert not left.exists()
