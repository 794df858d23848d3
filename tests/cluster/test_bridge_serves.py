"""Bridges of several processes over one ledger: each `bridge` of a test stands for one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cluster import Bridge, EngineFactory, Node, RlimitsDriver
from cluster.control_plane import Accepted, Stage
from cluster.sandbox import ProcessSandbox
from cluster.slot import HeldSlot
from contracts import NodeId, OrderId, OrderState, StatusReport, TaskOrder
from runtime.capabilities.port import Sandbox
from runtime.errors import NotFound
from runtime.ledger.port import Lease
from runtime.settings import SlotSettings
from tests.cluster.conftest import ONE_SLOT, Rig
from tests.fakes.orders import an_order
from tests.fakes.step_engine import Engines, OneStepEngine

pytestmark = pytest.mark.anyio
PATIENT = SlotSettings(count=1, allocate_s=60)


class ForOthers:
    """Engines for the orders of other processes, which a test holds by the hand."""

    def __init__(self, rig: Rig, *may_end: asyncio.Event) -> None:
        self.engines = Engines(rig.store, *may_end)
        self.fails = False
        self.held: set[OrderId] = set()

    @asynccontextmanager
    async def for_order(self, order: TaskOrder) -> AsyncIterator[EngineFactory]:
        if self.fails:
            raise NotFound("Its organisation is not here.")
        yield lambda leases, still_held: self.engines(leases)

    def hold(self, order_id: OrderId) -> bool:
        self.held.add(order_id)
        return True


def another_node(labels: tuple[str, ...] = ()) -> Node:
    return Node(NodeId.new(), 1, labels=labels)


@asynccontextmanager
async def serving(bridge: Bridge) -> AsyncIterator[None]:
    """Let the bridge serve; it has entered the queue when this begins."""
    serving = asyncio.create_task(bridge.serve())
    while not [each for each in await bridge._control_plane.nodes() if each.pulled_at]:
        pass  # another look
    try:
        yield
    finally:
        serving.cancel()
        await asyncio.wait({serving})


async def test_an_order_is_carried_out_by_the_process_whose_node_has_the_labels(rig: Rig) -> None:
    others = ForOthers(rig)
    there = rig.bridge(node=another_node(("gpu",)), engines=others)
    here = rig.gateway(lambda leases: OneStepEngine(rig.store, leases), PATIENT)
    async with asyncio.timeout(60), serving(there):
        report = await here.submit(an_order(labels=("gpu",)))

    assert report.state is OrderState.DONE
    assert others.engines.count == 1
    assert await rig.plane().orders() == []
    assert await rig.store.leases.live("slot/") == []


async def test_an_order_goes_elsewhere_while_the_own_slots_are_taken(rig: Rig) -> None:
    others, may_end = ForOthers(rig), asyncio.Event()
    there = rig.bridge(node=another_node(), engines=others)
    own = Engines(rig.store, may_end)
    here = rig.gateway(own, PATIENT)
    async with asyncio.timeout(60), serving(there):
        first = asyncio.create_task(here.submit(an_order()))
        await own.next_begun()
        second = await here.submit(an_order())
        may_end.set()
        await first

    assert second.state is OrderState.DONE
    assert (own.count, others.engines.count) == (1, 1)


async def test_those_who_wait_are_served_in_turn_as_slots_come_free(rig: Rig) -> None:
    may_end, served = asyncio.Event(), list[TaskOrder]()
    engines = Engines(rig.store, may_end)
    gateway = rig.gateway(engines, PATIENT)
    plane = rig.plane()

    async def submit(order: TaskOrder) -> None:
        await gateway.submit(order)
        served.append(order)

    orders = [an_order(), *(an_order(priority=priority) for priority in (0, 2, 1))]
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(submit(orders[0]))
        await engines.next_begun()
        for order in orders[1:]:
            tasks.create_task(submit(order))
        while await plane.waiting() < 3:
            pass  # another look
        may_end.set()

    assert [order.priority for order in served] == [0, 2, 1, 0]


async def test_an_order_that_cannot_be_carried_out_there_is_a_failed_report(rig: Rig) -> None:
    others = ForOthers(rig)
    others.fails = True
    there = rig.bridge(node=another_node(("gpu",)), engines=others)
    async with asyncio.timeout(60), serving(there):
        report = await rig.gateway(Engines(rig.store), PATIENT).submit(an_order(labels=("gpu",)))

    assert report.error is not None
    assert report.error.code == "NOT_FOUND"


async def test_an_order_whose_submitter_gives_up_is_stopped_where_it_is(rig: Rig) -> None:
    others = ForOthers(rig, asyncio.Event())
    there = rig.bridge(node=another_node(("gpu",)), engines=others)
    async with asyncio.timeout(60), serving(there):
        waiting = asyncio.create_task(rig.gateway(Engines(rig.store), PATIENT).submit(an_order(labels=("gpu",))))
        begun = await others.engines.next_begun()
        waiting.cancel()
        await asyncio.wait({waiting})
        slots = await rig.store.leases.live("slot/")

    assert slots == []
    assert begun.ended.is_set()
    assert await rig.plane().orders() == []


async def test_a_process_that_ends_gives_its_orders_back_and_another_carries_them_out(rig: Rig) -> None:
    first, second = ForOthers(rig, asyncio.Event()), ForOthers(rig)
    ending = rig.bridge(node=another_node(("gpu",)), engines=first)
    order = an_order(labels=("gpu",))
    async with asyncio.timeout(60):
        async with serving(ending):
            waiting = asyncio.create_task(rig.gateway(Engines(rig.store), PATIENT).submit(order))
            await first.engines.next_begun()
            await ending.drain(5)
        async with serving(rig.bridge(node=another_node(("gpu",)), engines=second)):
            report = await waiting

    assert first.held == {order.order_id}
    assert report.state is OrderState.DONE
    assert second.engines.count == 1


async def test_an_order_that_comes_free_with_a_cancelled_one_is_begun(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane, reported, may_return = rig.plane(PATIENT), asyncio.Event(), asyncio.Event()
    finish = plane.finish

    async def slow(order_id: OrderId, held: HeldSlot, report: StatusReport) -> Sequence[Accepted]:
        following = await finish(order_id, held, report)
        reported.set()
        await may_return.wait()
        return following

    monkeypatch.setattr(plane, "finish", slow)
    bridge, may_end = rig.bridge(PATIENT, plane=plane), asyncio.Event()
    engines = Engines(rig.store, may_end)
    async with asyncio.timeout(60):
        first = asyncio.create_task(bridge.submit(an_order(), lambda leases, still_held: engines(leases)))
        await engines.next_begun()
        second = asyncio.create_task(bridge.submit(an_order(), lambda leases, still_held: engines(leases)))
        while await plane.waiting() < 1:
            pass  # another look
        may_end.set()
        await reported.wait()
        first.cancel()
        for _ in range(20):  # until the cancellation has reached whoever tells the queue
            await asyncio.sleep(0)
        may_return.set()
        await asyncio.wait({first})

        assert (await second).state is OrderState.DONE


async def test_a_fault_of_an_own_engine_reaches_whoever_submitted_and_leaves_no_row(rig: Rig) -> None:
    class Faulty:
        async def run(self, order: TaskOrder, **_: object) -> StatusReport:
            raise ZeroDivisionError

    def engine(leases: Sequence[Lease]) -> Faulty:
        return Faulty()

    may_end = asyncio.Event()
    held = Engines(rig.store, may_end)
    busy, gateway = rig.gateway(held, PATIENT), rig.gateway(engine, PATIENT)
    async with asyncio.timeout(60):
        first = asyncio.create_task(busy.submit(an_order()))
        await held.next_begun()
        second = asyncio.create_task(gateway.submit(an_order()))
        while await rig.plane().waiting() < 1:
            pass  # another look
        may_end.set()
        await first
        with pytest.raises(ZeroDivisionError):
            await second

    assert [each for each in await rig.plane().orders() if each.stage is not Stage.LEFT] == []


class SlowDriver(RlimitsDriver):
    """Takes until it may open a slot."""

    def __init__(self, settings: SlotSettings, may_open: asyncio.Event) -> None:
        super().__init__(settings)
        self.may_open = may_open

    async def open(self, folder: Path) -> ProcessSandbox:
        await self.may_open.wait()
        return await super().open(folder)


async def test_the_lease_is_renewed_while_room_is_made_for_the_order(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, renewed = SlotSettings(count=1, lease_s=0.3), asyncio.Event()
    plane, engines = rig.plane(settings), Engines(rig.store)
    renew = plane.renew

    async def renew_and_tell(held: HeldSlot) -> HeldSlot:
        try:
            return await renew(held)
        finally:
            renewed.set()

    monkeypatch.setattr(plane, "renew", renew_and_tell)
    bridge = rig.bridge(settings, plane=plane)
    bridge._driver_for = lambda index: SlowDriver(settings, renewed)
    order = an_order()
    held = await plane.take(order)
    assert held is not None
    async with asyncio.timeout(60):
        report = await bridge.run(order, held, lambda leases, still_held: engines(leases))

    assert report.state is OrderState.DONE


class FullDiskDriver(RlimitsDriver):
    """Cannot empty a slot, once."""

    fails = True

    async def close(self, sandbox: Sandbox) -> None:
        if self.fails:
            self.fails = False
            raise OSError("no space left on device")
        await super().close(sandbox)


async def test_an_order_stays_done_when_its_slot_cannot_be_emptied_and_the_next_one_finds_it_empty(
    rig: Rig, tmp_path: Path
) -> None:
    plane, engines, driver = rig.plane(), Engines(rig.store), FullDiskDriver(ONE_SLOT)
    bridge = rig.bridge(plane=plane)
    bridge._driver_for = lambda index: driver
    states, left = [], []
    for order in (an_order(), an_order()):
        held = await plane.take(order)
        assert held is not None
        states.append((await bridge.run(order, held, lambda leases, still_held: engines(leases))).state)
        left.append(len(list((tmp_path / "slots").iterdir())))
        await plane.release(held)

    assert states == [OrderState.DONE] * 2
    assert left == [1, 0]
