"""The queue: who comes next, where to, and what is refused."""

from __future__ import annotations

import asyncio

import pytest

from cluster import ControlPlane
from cluster.control_plane import Accepted, Stage
from cluster.errors import NoNodeFits, NoSlotFree, QueueFull
from contracts import ExecutionId, TaskOrder
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.cluster.control_plane.conftest import Planes, a_node, done, serving, stages, submitting
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


async def test_nobody_passes_those_who_wait(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(a_node(2)), clock)
    await plane.enqueue(an_order(labels=()))
    held = [await plane.take(an_order()), await plane.take(an_order())]
    await plane.enqueue(an_order())

    assert [each is None for each in held] == [False, True]
    assert await plane.take(an_order()) is None


async def test_a_queued_order_gets_a_free_slot_at_once_and_its_submitter_begins_it(
    planes: Planes, clock: HandClock
) -> None:
    plane, order = await submitting(planes(), clock), an_order()
    (accepted,) = (await plane.enqueue(order)).accepted

    assert (accepted.order_id, accepted.order) == (order.order_id, None)
    assert accepted.held.allocation.node_id == plane.node.node_id  # type: ignore[union-attr]
    assert await stages(plane) == {order.order_id: Stage.RUNNING}


async def test_the_end_of_an_order_lets_the_next_one_begin(planes: Planes, clock: HandClock) -> None:
    plane, first, second = await submitting(planes(), clock), an_order(), an_order()
    (begun,) = (await plane.enqueue(first)).accepted
    assert (await plane.enqueue(second)).accepted == []
    (following,) = await plane.finish(first.order_id, begun.held, done(first))

    assert following.order_id == second.order_id
    assert following.held.lease.fence > begun.held.lease.fence
    assert await stages(plane) == {second.order_id: Stage.RUNNING}


async def test_another_process_carries_out_what_its_submitter_has_no_slot_for(planes: Planes, clock: HandClock) -> None:
    here, there = await submitting(planes(), clock), await serving(planes(a_node(labels=("gpu",))), clock)
    order = an_order(labels=("gpu",))
    entered = await here.enqueue(order)
    (accepted,) = (await there.look()).accepted
    await there.finish(order.order_id, accepted.held, done(order))

    assert entered.accepted == []
    assert accepted.order == order
    assert (await here.look()).reports == [done(order)]
    assert await stages(here) == {}


async def test_an_order_goes_to_the_least_loaded_node(planes: Planes, clock: HandClock) -> None:
    small, large = await serving(planes(a_node(2)), clock), await serving(planes(a_node(4)), clock)
    await small.take(an_order())
    submitter = await submitting(planes(a_node(1, labels=())), clock)
    await submitter.take(an_order())
    order = an_order()
    await submitter.enqueue(order)

    assert [each.order_id for each in (await large.look()).accepted] == [order.order_id]
    assert (await small.look()).accepted == ()


async def test_orders_of_a_greater_priority_go_first(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    served = await served_in_turn(plane, [an_order(), an_order(priority=-1), an_order(priority=5)])

    assert [order.priority for order in served] == [5, 0, -1]


async def test_an_execution_that_comes_later_waits_for_one_order_of_each_other(
    planes: Planes, clock: HandClock
) -> None:
    plane = await submitting(planes(), clock)
    many, few = sorted(ExecutionId.new() for _ in range(2))
    orders = [an_order(execution_id=many) for _ in range(6)] + [an_order(execution_id=few) for _ in range(2)]
    served = await served_in_turn(plane, orders)

    assert [order.execution_id == few for order in served] == [False, True, False, True, False, False, False, False]


async def served_in_turn(plane: ControlPlane, orders: list[TaskOrder]) -> list[TaskOrder]:
    """Return the orders as they got the only slot, which is held while they are submitted."""
    by_id = {order.order_id: order for order in orders}
    held = await plane.take(an_order())
    assert held is not None
    for order in orders:
        await plane.enqueue(order)
    following, served = list(await plane.release(held)), list[TaskOrder]()
    while following:
        order = by_id[following[0].order_id]
        served.append(order)
        following = list(await plane.finish(order.order_id, following[0].held, done(order)))
    return served


async def test_a_full_queue_takes_nothing_in_and_drops_nothing(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(queue=3), clock)
    await plane.take(an_order())
    for _ in range(3):
        await plane.enqueue(an_order())

    with pytest.raises(QueueFull) as raised:
        await plane.enqueue(an_order())
    assert raised.value.facts["retry_after_s"] == 1.0
    with pytest.raises(QueueFull):
        await plane.require_room()
    assert await plane.waiting() == 3


async def test_a_label_that_no_node_has_is_told_with_those_there_are(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(a_node(labels=("linux",))), clock)

    with pytest.raises(NoNodeFits, match="No node has the labels gpu that the order needs"):
        await plane.enqueue(an_order(labels=("gpu",)))


async def test_isolation_that_no_node_can_hold_is_told(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(a_node(cannot_enforce=("network",))), clock)

    assert await plane.take(an_order(needs=("network",))) is None
    with pytest.raises(NoNodeFits, match="can hold what the order needs: network"):
        await plane.enqueue(an_order(needs=("network",)))


async def test_an_order_for_which_nothing_moves_is_told(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(), clock)
    order = an_order()
    (begun,) = (await plane.enqueue(order)).accepted
    waiting, misfit = an_order(), an_order(labels=("gpu",))
    moving = await plane.stand_still([waiting], 60)
    clock.advance(61)
    await plane.beat(for_all=True, pulled_at=clock.now())
    still = await plane.stand_still([waiting, misfit, order], 60)

    assert begun.order_id == order.order_id
    assert moving == {}
    assert {each: type(why) for each, why in still.items()} == {
        waiting.order_id: NoSlotFree, misfit.order_id: NoNodeFits
    }  # fmt: skip
    assert "All 1 slots were taken for 60 s" in str(still[waiting.order_id])


async def test_an_order_whose_only_node_is_lost_waits_for_it_and_is_told_which(
    planes: Planes, clock: HandClock
) -> None:
    gpu = ("gpu",)
    submitter, elsewhere = await serving(planes(), clock), await serving(planes(a_node(labels=gpu)), clock)
    clock.advance(61)
    await submitter.beat(for_all=True, pulled_at=clock.now())
    order = an_order(labels=gpu)
    await submitter.enqueue(order)  # the node may come back
    still = (await submitter.stand_still([order], 60))[order.order_id]

    assert elsewhere.node is not None
    assert isinstance(still, NoNodeFits) and still.facts["lost"] == [elsewhere.node.node_id]
    assert f"{elsewhere.node.node_id} would fit, and is lost" in str(still)


async def test_an_order_that_is_carried_out_elsewhere_for_long_does_not_stand_still(
    planes: Planes, clock: HandClock
) -> None:
    gpu = ("gpu",)
    submitter, elsewhere = await serving(planes(), clock), await serving(planes(a_node(labels=gpu)), clock)
    order, waiting = an_order(labels=gpu), an_order(labels=gpu)
    await submitter.enqueue(order)
    (begun,) = (await elsewhere.look()).accepted
    clock.advance(61)
    await elsewhere.beat(for_all=True, pulled_at=clock.now())
    await elsewhere.renew(begun.held)

    assert set(await submitter.stand_still([order, waiting], 60)) == {waiting.order_id}


async def test_many_processes_that_match_at_once_give_each_order_one_slot(planes: Planes, clock: HandClock) -> None:
    everybody = [await serving(planes(), clock) for _ in range(4)]
    orders = [an_order() for _ in range(12)]
    begun: list[Accepted] = []
    for entered in await asyncio.gather(*(everybody[at % 4].enqueue(each) for at, each in enumerate(orders))):
        begun += entered.accepted
    for seen in await asyncio.gather(*(plane.look() for plane in everybody)):
        begun += seen.accepted

    slots = [each.held.allocation.slot_id for each in begun]
    assert len(slots) == len(set(slots)) == 4
    assert len({each.order_id for each in begun}) == 4
    assert await everybody[0].waiting() == 8


async def test_the_orders_of_one_organisation_are_told_apart_before_the_limit(
    planes: Planes, store: SqlStore, clock: HandClock
) -> None:
    plane = await submitting(planes(a_node(0)), clock)
    orders = [an_order(organisation=whose) for whose in ("stall", "desk", "stall", "desk", "desk")]
    for order in orders:
        asked = NewEvent("execution.requested")
        await store.ledger.append(Append(order.execution_id, (asked,), 0, order.organisation, "/test"))
        await plane.enqueue(order)

    told = [each.order_id for each in await plane.orders(2, organisation="desk")]

    in_line = sorted((each for each in orders if each.organisation == "desk"), key=lambda each: each.execution_id)
    assert told == [each.order_id for each in in_line[:2]]
    assert len(await plane.orders(organisation="desk")) == 3
    assert await plane.orders(organisation="nobody") == []
