"""Slots: lent by lease, and free again when their holder is gone."""

from __future__ import annotations

import asyncio

import pytest

from cluster import Occupancy
from cluster.control_plane import Stage
from runtime.executor.holder import this_process
from runtime.ledger.store import SqlStore
from tests.cluster.control_plane.conftest import Planes, a_node, serving, stages, submitting
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


async def test_while_nobody_waits_a_slot_is_taken_without_a_row(planes: Planes) -> None:
    plane = planes(a_node(cannot_enforce=("network",)))
    order = an_order()
    held = await plane.take(order)

    assert held is not None
    assert (held.allocation.order_id, held.allocation.fence) == (order.order_id, 1)
    assert held.allocation.cannot_enforce == ("network",)
    assert [(each.order_id, each.stage, each.execution_id) for each in await plane.orders()] == [
        (order.order_id, Stage.RUNNING, None)
    ]


async def test_each_lease_of_a_slot_has_a_greater_fence(planes: Planes) -> None:
    plane = planes()
    first = await plane.take(an_order())
    assert first is not None
    await plane.release(first)
    second = await plane.take(an_order())

    assert second is not None
    assert second.allocation.slot_id == first.allocation.slot_id
    assert second.allocation.fence > first.allocation.fence


async def test_occupancy_follows_from_the_leases_alone(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(2)), clock)
    await plane.take(an_order())
    taken = await plane.occupancy()
    clock.advance(16)

    assert taken == Occupancy(slots=2, taken=1)
    assert await plane.occupancy() == Occupancy(slots=2, taken=0)


async def test_the_slot_of_a_process_that_was_killed_is_free_at_once(planes: Planes, store: SqlStore) -> None:
    plane, gone = planes(), await a_holder_that_is_gone()
    assert plane.node is not None
    await store.leases.acquire(plane.node.lease_name(0), f"{gone}/{an_order().order_id}", 15)
    held = await plane.take(an_order())

    assert held is not None
    assert held.allocation.fence == 2


async def test_the_orders_of_a_process_that_was_killed_are_given_out_at_once(
    planes: Planes, store: SqlStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, submitter, order = planes(), await submitting(planes(), clock), an_order()
    monkeypatch.setattr(node, "runner", await a_holder_that_is_gone())
    monkeypatch.setattr(node._jobs, "_me", node.runner)  # type: ignore[attr-defined]  # the process of another pid
    await submitter.take(an_order())
    await serving(node, clock)
    monkeypatch.setattr("cluster.control_plane.round.is_gone", lambda holder: False)
    await submitter.enqueue(order)
    (accepted,) = (await node.look()).accepted
    monkeypatch.undo()
    await submitter.look()

    assert accepted.order == order
    assert (await stages(submitter))[order.order_id] is Stage.QUEUED


async def a_holder_that_is_gone() -> str:
    """Return the name of a process of this machine that ended."""
    host, machine, *_ = this_process().split("/")
    ended = await asyncio.create_subprocess_exec("true")
    await ended.wait()
    return f"{host}/{machine}/{ended.pid}/1/x"


async def test_an_order_cancelled_while_its_slot_is_on_its_way_leaves_the_slot_free(
    planes: Planes, clock: HandClock
) -> None:
    plane = await serving(planes(), clock)
    waiting = asyncio.ensure_future(plane.take(an_order()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})

    assert (await plane.occupancy()).taken == 0
