"""An order that comes back to a process which has not noticed yet that it lost the slot before."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cluster import EngineFactory
from cluster.control_plane import Accepted
from cluster.resident import Resident
from cluster.slot import HeldSlot
from contracts import OrderState, StatusReport, TaskOrder
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
