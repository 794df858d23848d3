"""Why orders wait, as it follows from the rows of the queue."""

from __future__ import annotations

import pytest

from cluster import ControlPlane
from cluster.control_plane import Closed, Wait, WaitFor
from cluster.control_plane.in_line import MOST
from contracts import Ancestor, ExecutionId, OrderId
from runtime.capabilities.placing import carries, serves
from tests.cluster.control_plane.conftest import OPERATOR, Planes, a_node, serving, submitting
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
MINE, OTHER = ExecutionId.new(), ExecutionId.new()


async def wait_of(plane: ControlPlane) -> Wait:
    (wait,) = await plane.waits([MINE])
    return wait


async def test_who_waits_is_told_how_many_come_before(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    for _ in range(3):
        await plane.enqueue(an_order(execution_id=OTHER, priority=1))
    await plane.enqueue(an_order(execution_id=MINE))
    since = clock.now()
    clock.advance(3)

    wait = await wait_of(plane)
    assert (wait.what, wait.missing, wait.since, wait.ahead) == (WaitFor.SLOT, (), since, 2)
    assert [each.ahead for each in await plane.waits([MINE, OTHER])] == [0, 1, 2]


async def test_only_who_wants_a_slot_of_the_same_nodes_stands_before(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(a_node(labels=())), clock)
    for label in ("gpu", "tape"):
        await serving(planes(a_node(labels=(label,))), clock)
    for labels in (("gpu",), ("gpu",), ("gpu",), ("tape",), ()):
        await plane.enqueue(an_order(execution_id=OTHER, labels=labels, priority=1))
    for labels in ((), ("tape",)):
        await plane.enqueue(an_order(execution_id=MINE, labels=labels))

    assert sorted(each.ahead for each in await plane.waits([MINE])) == [1, 2]


async def test_what_no_node_that_lives_offers_is_named(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    await serving(planes(a_node(labels=("gpu", "browser", carries("till.refund"), serves("shop")))), clock)
    stays = await serving(planes(a_node(labels=("gpu",), cannot_enforce=("network",))), clock)
    first = an_order(labels=("browser",))
    await plane.enqueue(first)
    for wants in (
        {"labels": ("browser", "gpu")}, {"labels": (serves("shop"), carries("till.refund"))},
        {"labels": ("gpu",), "needs": ("network",)},
    ):  # fmt: skip
        await plane.enqueue(an_order(execution_id=MINE, **wants))
    clock.advance(60)
    await plane.beat(for_all=False, pulled_at=clock.now())
    await stays.beat(for_all=True, pulled_at=clock.now())

    told = {each.what: each.missing for each in await plane.waits([MINE])}
    assert told == {
        WaitFor.LABELS: ("browser",), WaitFor.BRIDGE: ("till.refund",), WaitFor.LIMITS: ("network",)
    }  # fmt: skip


async def test_a_node_that_is_closed_is_told(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED, by=OPERATOR)
    await plane.enqueue(an_order(execution_id=MINE))

    assert (await wait_of(plane)).what is WaitFor.NODE


async def test_who_waits_is_named_by_the_step_that_gave_the_order(planes: Planes, clock: HandClock) -> None:
    plane = await submitting(planes(), clock)
    above = Ancestor(order_id=OrderId.new(), employee="desk", step="measure")
    for order in (an_order(), an_order(execution_id=MINE, chain=(above,)), an_order(execution_id=MINE)):
        await plane.enqueue(order)

    assert {each.place for each in await plane.waits([MINE])} == {"desk/measure", "analyst"}


async def test_an_execution_without_waiting_orders_has_none_and_a_crowd_is_cut(
    planes: Planes, clock: HandClock
) -> None:
    plane = await submitting(planes(), clock)
    assert await plane.waits([MINE]) == [] == await plane.waits([])
    for _ in range(MOST + 3):
        await plane.enqueue(an_order(execution_id=MINE))

    assert len(await plane.waits([MINE, OTHER])) == MOST
    assert await plane.waits([OTHER]) == []
