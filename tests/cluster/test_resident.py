"""Orders of one process at the edges of the queue: come back before they are missed, or not there yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cluster import EngineFactory
from cluster.control_plane import Accepted, Entered
from cluster.control_plane.port import Seen
from cluster.errors import NoNodeFits
from cluster.resident import Resident
from cluster.slot import HeldSlot
from contracts import OrderId, OrderState, StatusReport, TaskOrder
from runtime.ledger.port import Lease
from tests.cluster.conftest import ONE_SLOT, QUICK, Rig
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


class Working:
    """Carries orders out until it is let go, and remembers how many it had at once."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[int] = asyncio.Queue()
        self.now, self.most = 0, 0
        self.go = asyncio.Event()

    async def __call__(self, order: TaskOrder, held: HeldSlot, engine_for: EngineFactory) -> StatusReport:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.put_nowait(held.lease.fence)
        try:
            await self.go.wait()
        finally:
            await asyncio.sleep(0)  # it takes a moment to leave a slot
            self.now -= 1
        return StatusReport(order_id=order.order_id, state=OrderState.DONE)


@pytest.fixture
def working() -> Working:
    return Working()


@pytest.fixture
def resident(rig: Rig, working: Working) -> Resident:
    return Resident(rig.plane(), working, None, clock=rig.clock, settings=QUICK, allocate_s=ONE_SLOT.allocate_s)


async def submitted(resident: Resident, order: TaskOrder) -> asyncio.Task[StatusReport]:
    return asyncio.create_task(
        resident.submit(order, lambda leases, still_held: None, leases=(), losses=0, leaving=lambda: False)  # type: ignore[arg-type,return-value]
    )


async def test_what_is_left_of_it_ends_before_it_is_begun_again(rig: Rig, resident: Resident, working: Working) -> None:
    order = an_order()
    async with asyncio.timeout(60):
        report = await submitted(resident, order)
        first = await working.begun.get()
        held = resident._working[order.order_id].held
        again = replace(held, lease=replace(held.lease, fence=first + 1))
        resident.begin([Accepted(order.order_id, again, None)])
        second = await working.begun.get()
        working.go.set()

        assert (await report).state is OrderState.DONE
    assert (second, working.most) == (first + 1, 1)
    await resident.close()


async def test_a_process_that_ends_waits_for_what_is_left_of_it_too(
    rig: Rig, resident: Resident, working: Working
) -> None:
    order = an_order()
    async with asyncio.timeout(60):
        report = await submitted(resident, order)
        await working.begun.get()
        held = resident._working[order.order_id].held
        resident.begin([Accepted(order.order_id, replace(held), None)])
        await resident.close()
        report.cancel()
        await asyncio.wait({report})

    assert working.now == 0


async def test_an_order_that_is_not_in_the_queue_yet_is_refused_by_the_queue_alone(
    rig: Rig, working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane, looks, withdrawn = rig.plane(), asyncio.Semaphore(0), list[OrderId]()
    look, enqueue = plane.look, plane.enqueue

    async def looked() -> Seen:
        try:
            return await look()
        finally:
            looks.release()

    async def enqueued_late(order: TaskOrder, *, leases: Sequence[Lease], losses: int) -> Entered:
        for _ in range(3):  # by then whoever waits too long has been told twice
            await looks.acquire()
            resident.wake()
        return await enqueue(order, leases=leases, losses=losses)

    async def withdrawing(order_id: OrderId, *, elsewhere_goes_on: bool = False) -> None:
        withdrawn.append(order_id)

    monkeypatch.setattr(plane, "look", looked)
    monkeypatch.setattr(plane, "withdraw", withdrawing)
    monkeypatch.setattr(plane, "enqueue", enqueued_late)
    resident = Resident(plane, working, None, clock=rig.clock, settings=QUICK, allocate_s=0.0)
    async with asyncio.timeout(60):
        with pytest.raises(NoNodeFits):
            await (await submitted(resident, an_order(labels=("arm",))))
    await resident.close()
    assert withdrawn == []
