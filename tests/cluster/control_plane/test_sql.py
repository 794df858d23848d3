"""The control plane over each real database. Each `plane` of a test is one more process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from cluster import Closed, ControlPlane, Node, Occupancy, open_control_plane
from cluster.control_plane import Accepted, Stage
from cluster.errors import NoNodeFits, NoSlotFree, QueueFull
from contracts import ExecutionId, NodeId, OrderState, StatusReport, TaskOrder
from runtime.errors import NotFound, StaleWriter
from runtime.executor.holder import this_process
from runtime.ledger.store import SqlStore
from runtime.settings import ClusterSettings, SlotSettings
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio

Planes = Callable[..., ControlPlane]


@pytest.fixture
def planes(store: SqlStore, clock: HandClock) -> Planes:
    """Make control planes of more processes: on a node of their own unless one is given."""

    def plane(node: Node | None = None, **settings: Any) -> ControlPlane:
        return open_control_plane(
            store, node or a_node(), clock, slot=SlotSettings(lease_s=15), cluster=ClusterSettings(**settings)
        )

    return plane


def a_node(slots: int = 1, **facts: tuple[str, ...]) -> Node:
    return Node(NodeId.new(), slots, **facts)  # type: ignore[arg-type]


async def serving(plane: ControlPlane, clock: HandClock) -> ControlPlane:
    """Let the process serve everybody."""
    await plane.beat(for_all=True, pulled_at=clock.now())
    return plane


async def submitting(plane: ControlPlane, clock: HandClock) -> ControlPlane:
    """Let the process carry out what it submits itself."""
    await plane.beat(for_all=False, pulled_at=clock.now())
    return plane


def done(order: TaskOrder) -> StatusReport:
    return StatusReport(order_id=order.order_id, state=OrderState.DONE)


async def stages(plane: ControlPlane) -> dict[str, Stage]:
    return {each.order_id: each.stage for each in await plane.orders()}


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


async def test_an_order_that_is_not_begun_in_time_goes_to_another_node(planes: Planes, clock: HandClock) -> None:
    """A node whose receive loop is dead gives signs of life all the same."""
    deaf, submitter = await serving(planes(a_node(4)), clock), await submitting(planes(), clock)
    await submitter.take(an_order())
    order = an_order()
    await submitter.enqueue(order)
    waiting = await stages(submitter)
    other = await serving(planes(), clock)
    clock.advance(3)
    await deaf.beat(for_all=True, pulled_at=None)
    await submitter.look()
    (accepted,) = (await other.look()).accepted

    assert waiting[order.order_id] is Stage.ASSIGNED
    assert accepted.order == order
    assert (await deaf.look()).accepted == ()


async def test_a_node_that_does_not_pull_gets_nothing(planes: Planes, clock: HandClock) -> None:
    deaf, submitter = planes(a_node(4)), await submitting(planes(), clock)
    await deaf.beat(for_all=True, pulled_at=None)
    await submitter.take(an_order())
    order = an_order()
    await submitter.enqueue(order)

    assert (await stages(submitter))[order.order_id] is Stage.QUEUED


async def test_an_order_whose_slot_ran_out_goes_on_elsewhere(planes: Planes, clock: HandClock) -> None:
    gone, submitter, order = await serving(planes(), clock), await submitting(planes(), clock), an_order()
    await submitter.take(an_order())
    await submitter.enqueue(order)
    (before,) = (await gone.look()).accepted
    clock.advance(16)
    await submitter.beat(for_all=False, pulled_at=clock.now())
    seen = await submitter.look()

    assert [each.order_id for each in seen.accepted] == [order.order_id]  # its own slot ran out as well
    with pytest.raises(StaleWriter):
        await gone.renew(before.held)


async def test_an_order_that_loses_its_third_slot_is_reported(planes: Planes, clock: HandClock) -> None:
    plane, order = await submitting(planes(), clock), an_order()
    accepted = list((await plane.enqueue(order)).accepted)
    for _ in range(3):
        (each,) = accepted
        accepted = list(await plane.lose(order.order_id, each.held))
    (report,) = (await plane.look()).reports

    assert report.state is OrderState.FAILED
    assert report.error is not None
    assert report.error.code == "SLOT_LOST"


async def test_what_a_lost_node_had_is_given_back_and_the_node_is_told_as_lost(
    planes: Planes, clock: HandClock
) -> None:
    lost, other = await serving(planes(a_node(2)), clock), await serving(planes(a_node(1)), clock)
    order = an_order()
    await other.take(an_order())
    await other.enqueue(order)
    await lost.look()
    clock.advance(16)
    await other.look()

    standing = {each.node.node_id: each.lost for each in await other.nodes()}
    assert standing == {lost.node.node_id: True, other.node.node_id: False}  # type: ignore[union-attr]
    assert (await stages(other))[order.order_id] is Stage.RUNNING


async def test_what_a_dead_submitter_queued_waits_for_somebody_to_submit_it_again(
    planes: Planes, clock: HandClock
) -> None:
    dead, order = await submitting(planes(), clock), an_order()
    await dead.take(an_order())
    await dead.enqueue(order)
    clock.advance(16)
    heir = await submitting(planes(), clock)
    await heir.look()
    left = await stages(heir)
    entered = await heir.enqueue(order)

    assert left == {order.order_id: Stage.LEFT}
    assert [each.order_id for each in entered.accepted] == [order.order_id]


async def test_an_order_in_progress_goes_on_when_its_submitter_dies_and_the_next_one_gets_the_report(
    planes: Planes, clock: HandClock
) -> None:
    dead, node, order = await submitting(planes(), clock), await serving(planes(), clock), an_order(labels=())
    await dead.take(an_order())
    await dead.enqueue(order)
    (accepted,) = (await node.look()).accepted
    heir = await submitting(planes(), clock)
    again = await heir.enqueue(order)
    await node.finish(order.order_id, accepted.held, done(order))

    assert (again.accepted, again.report) == ([], None)
    assert (await heir.look()).reports == [done(order)]
    assert (await dead.look()).reports == ()


async def test_a_report_waits_for_a_submitter_that_comes_again(planes: Planes, clock: HandClock) -> None:
    dead, node, order = await submitting(planes(), clock), await serving(planes(), clock), an_order()
    await dead.take(an_order())
    await dead.enqueue(order)
    (accepted,) = (await node.look()).accepted
    await node.finish(order.order_id, accepted.held, done(order))
    heir = await submitting(planes(), clock)

    assert (await heir.enqueue(order)).report == done(order)


async def test_who_lost_the_execution_submits_nothing(planes: Planes, store: SqlStore, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    lease = await store.leases.acquire("execution/x", "me", 15)
    assert lease is not None
    await store.leases.release(lease)

    with pytest.raises(StaleWriter):
        await plane.enqueue(an_order(), leases=(lease,))
    assert await plane.orders() == []


async def test_a_withdrawn_order_loses_its_slot_wherever_it_is(planes: Planes, clock: HandClock) -> None:
    here, there, order = await submitting(planes(), clock), await serving(planes(), clock), an_order()
    await here.take(an_order())
    await here.enqueue(order)
    (accepted,) = (await there.look()).accepted
    await here.withdraw(order.order_id)

    assert order.order_id not in await stages(here)
    with pytest.raises(StaleWriter):
        await there.renew(accepted.held)


async def test_what_goes_on_elsewhere_can_be_left_there(planes: Planes, clock: HandClock) -> None:
    here, there, order = await submitting(planes(), clock), await serving(planes(), clock), an_order()
    await here.take(an_order())
    await here.enqueue(order)
    (accepted,) = (await there.look()).accepted
    await here.withdraw(order.order_id, elsewhere_goes_on=True)

    await there.renew(accepted.held)
    assert (await stages(here))[order.order_id] is Stage.RUNNING


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


async def test_a_cordoned_node_keeps_what_it_has_and_gets_nothing_new(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(2)), clock)
    assert plane.node is not None
    held = await plane.take(an_order())
    standing = await plane.close(plane.node.node_id, Closed.CORDONED)
    await plane.enqueue(order := an_order())

    assert (standing.closed, standing.taken) == (Closed.CORDONED, 1)
    assert await plane.take(an_order()) is None
    assert (await stages(plane))[order.order_id] is Stage.QUEUED
    assert held is not None
    await plane.renew(held)


async def test_a_node_that_is_opened_again_takes_what_waits(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED)
    await plane.enqueue(order := an_order())
    await plane.close(plane.node.node_id, Closed.OPEN)

    assert [each.order_id for each in (await plane.look()).accepted] == [order.order_id]


async def test_a_node_stays_cordoned_when_it_starts_again(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED)
    await plane.leave()
    again = await serving(planes(plane.node), clock)

    assert [each.closed for each in await again.nodes()] == [Closed.CORDONED]


async def test_the_orders_of_a_draining_node_are_to_move(planes: Planes, clock: HandClock) -> None:
    plane, order = await serving(planes(), clock), an_order()
    assert plane.node is not None
    (accepted,) = (await plane.enqueue(order)).accepted
    await plane.close(plane.node.node_id, Closed.DRAINING)
    moving = (await plane.look()).moving
    await plane.give_back(order.order_id, accepted.held)

    assert moving == {order.order_id}
    assert (await stages(plane))[order.order_id] is Stage.QUEUED
    assert await plane.occupancy() == Occupancy(slots=1, taken=0)


async def test_a_node_that_is_not_there_cannot_be_closed(planes: Planes) -> None:
    with pytest.raises(NotFound, match="silicon cluster nodes"):
        await planes().close(NodeId.new(), Closed.CORDONED)


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
