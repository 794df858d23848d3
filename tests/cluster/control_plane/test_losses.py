"""What becomes of orders whose slot, node or submitter is lost."""

from __future__ import annotations

import pytest

from cluster.control_plane import Stage
from contracts import OrderState
from runtime.errors import StaleWriter
from runtime.ledger.store import SqlStore
from tests.cluster.control_plane.conftest import Planes, a_node, done, serving, stages, submitting
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


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
