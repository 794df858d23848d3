"""Which slots are kept ready, and for whom: over each real database."""

from __future__ import annotations

import pytest

from cluster import Closed
from runtime.executor.holder import this_process
from runtime.ledger.store import SqlStore
from tests.cluster.control_plane.conftest import OPERATOR, Planes, a_node, serving, submitting
from tests.cluster.control_plane.test_slots import a_holder_that_is_gone
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


async def test_a_free_slot_is_told_with_the_fence_of_its_last_lease(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(3)), clock)
    first, second = await plane.take(an_order()), await plane.take(an_order())
    assert first is not None
    assert second is not None
    await plane.release(first)

    assert await plane.warm(()) == {0: 1, 2: 0}
    again = await plane.take(an_order())
    assert again is not None
    assert (again.index, again.follows) == (0, 1)


async def test_a_warm_slot_is_taken_first_and_is_told_as_warm_until_then(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(3)), clock)
    await plane.warm((2,))
    (before,) = await plane.nodes()
    held = await plane.take(an_order())
    (after,) = await plane.nodes()

    assert held is not None
    assert (before.warm, held.index, after.warm) == ({2}, 2, frozenset())


async def test_an_order_of_the_queue_goes_to_the_node_with_a_warm_slot_and_gets_that(
    planes: Planes, clock: HandClock
) -> None:
    here = planes(a_node(labels=("other",)))
    await submitting(here, clock)
    nodes = [await serving(planes(a_node(2, labels=("box",))), clock) for _ in range(2)]
    warm = max(nodes, key=lambda plane: str(plane.node and plane.node.node_id))  # the other one is first by name
    await warm.warm((1,))
    order = an_order(labels=("box",))
    await here.enqueue(order)
    (accepted,) = (await warm.look()).accepted

    assert (accepted.order_id, accepted.held.index, accepted.held.follows) == (order.order_id, 1, 0)
    assert accepted.held.lease.fence == 2


async def test_one_slot_is_kept_ready_by_one_process(planes: Planes, clock: HandClock) -> None:
    node = a_node(2)
    one, other = await serving(planes(node), clock), await serving(planes(node), clock)
    await one.warm((0,))

    assert await other.warm(()) == {1: 0}
    await one.warm(())
    assert await other.warm(()) == {0: 0, 1: 0}


async def test_what_a_process_kept_ready_is_nobody_s_when_it_is_gone(
    planes: Planes, store: SqlStore, clock: HandClock
) -> None:
    plane = await serving(planes(a_node(2)), clock)
    assert plane.node is not None
    await store.leases.acquire(plane.node.warm_name(1), await a_holder_that_is_gone(), 3600)

    assert (await plane.nodes())[0].warm == frozenset()
    assert set(await plane.warm(())) == {0, 1}


async def test_a_slot_that_ran_out_instead_of_being_given_back_is_not_made_ready(
    planes: Planes, store: SqlStore, clock: HandClock
) -> None:
    plane = planes(a_node(2))
    assert plane.node is not None
    await store.leases.acquire(plane.node.lease_name(0), f"{this_process()}/stopped", 15)
    clock.advance(16)

    assert set(await plane.warm(())) == {1}


async def test_a_closed_node_keeps_nothing_ready(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(2)), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED, by=OPERATOR)

    assert await plane.warm(()) == {}
