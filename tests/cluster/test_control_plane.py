from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cluster import ControlPlane, Node, Occupancy, this_node
from cluster.errors import NoNodeFits, NoSlotFree
from contracts import TaskOrder
from runtime.errors import StaleWriter
from runtime.ledger.store import SqlStore
from runtime.settings import SlotSettings
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


async def test_an_order_gets_a_slot_that_says_what_it_cannot_hold(
    control_plane: ControlPlane, order: TaskOrder
) -> None:
    held = await control_plane.allocate(order)

    assert held.allocation.order_id == order.order_id
    assert held.allocation.cannot_enforce == ("network",)
    assert held.allocation.fence == 1


async def test_each_lease_of_a_slot_has_a_greater_fence(control_plane: ControlPlane, order: TaskOrder) -> None:
    first = await control_plane.allocate(order)
    await control_plane.release(first)
    second = await control_plane.allocate(order)

    assert second.allocation.slot_id == first.allocation.slot_id
    assert second.allocation.fence > first.allocation.fence


async def test_occupancy_follows_from_the_leases_alone(
    control_plane: ControlPlane, order: TaskOrder, clock: HandClock
) -> None:
    await control_plane.allocate(order)
    taken = await control_plane.occupancy()
    clock.advance(16)

    assert taken == Occupancy(slots=1, taken=1)
    assert await control_plane.occupancy() == Occupancy(slots=1, taken=0)


async def test_those_who_wait_get_slots_in_the_order_they_came(control_plane: ControlPlane) -> None:
    held = await control_plane.allocate(an_order())
    served: list[int] = []

    async def wait(number: int) -> None:
        mine = await control_plane.allocate(an_order())
        served.append(number)
        await control_plane.release(mine)

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for number in range(3):
            tasks.create_task(wait(number))
        await control_plane.release(held)

    assert served == [0, 1, 2]


async def test_a_slot_given_back_by_another_process_is_found(
    sqlite_store: SqlStore, node: Node, control_plane: ControlPlane
) -> None:
    other = ControlPlane(sqlite_store.leases, [node], SlotSettings(allocate_s=5))
    held = await control_plane.allocate(an_order())
    waiting = asyncio.create_task(other.allocate(an_order()))
    await control_plane.release(held)

    async with asyncio.timeout(5):
        assert (await waiting).allocation.slot_id == held.allocation.slot_id


async def test_no_free_slot_in_time_is_told(control_plane: ControlPlane) -> None:
    await control_plane.allocate(an_order())

    with pytest.raises(NoSlotFree, match=r"All 1 slots were taken for 0\.3 s"):
        await control_plane.allocate(an_order())


async def test_a_label_that_no_node_has_is_told(control_plane: ControlPlane) -> None:
    with pytest.raises(NoNodeFits, match="No node has the labels gpu"):
        await control_plane.allocate(an_order(labels=("gpu",)))


async def test_a_slot_that_another_took_over_cannot_be_renewed(
    control_plane: ControlPlane, order: TaskOrder, clock: HandClock
) -> None:
    held = await control_plane.allocate(order)
    clock.advance(16)
    await control_plane.allocate(an_order())

    with pytest.raises(StaleWriter):
        await control_plane.renew(held)


def test_every_process_of_a_home_is_the_same_node(tmp_path: Path) -> None:
    first, second = (this_node(tmp_path, SlotSettings(), labels=(), cannot_enforce=()) for _ in range(2))

    assert first == second
    assert first.slot_id(0) != first.slot_id(1)
    assert [path.name for path in tmp_path.iterdir()] == ["node"]
