"""Nodes: closed, opened and forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cluster import Closed, Occupancy
from cluster.control_plane import Closer, Stage
from cluster.control_plane.port import Closing
from contracts import NodeId
from runtime.errors import NotFound
from runtime.ledger.store import SqlStore
from tests.cluster.control_plane.conftest import OPERATOR, Planes, a_node, serving, stages, submitting
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


async def test_a_cordoned_node_keeps_what_it_has_and_gets_nothing_new(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(a_node(2)), clock)
    assert plane.node is not None
    held = await plane.take(an_order())
    standing = await plane.close(plane.node.node_id, Closed.CORDONED, by=OPERATOR)
    await plane.enqueue(order := an_order())

    assert (standing.closed, standing.taken) == (Closed.CORDONED, 1)
    assert await plane.take(an_order()) is None
    assert (await stages(plane))[order.order_id] is Stage.QUEUED
    assert held is not None
    await plane.renew(held)


async def test_a_node_that_is_opened_again_takes_what_waits(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED, by=OPERATOR)
    await plane.enqueue(order := an_order())
    await plane.close(plane.node.node_id, Closed.OPEN, by=OPERATOR)

    assert [each.order_id for each in (await plane.look()).accepted] == [order.order_id]


async def test_a_node_stays_cordoned_when_it_starts_again(planes: Planes, clock: HandClock) -> None:
    plane = await serving(planes(), clock)
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED, by=OPERATOR)
    await plane.leave()
    again = await serving(planes(plane.node), clock)

    assert [each.closed for each in await again.nodes()] == [Closed.CORDONED]


async def test_the_orders_of_a_draining_node_are_to_move(planes: Planes, clock: HandClock) -> None:
    plane, order = await serving(planes(), clock), an_order()
    assert plane.node is not None
    (accepted,) = (await plane.enqueue(order)).accepted
    await plane.close(plane.node.node_id, Closed.DRAINING, by=OPERATOR)
    moving = (await plane.look()).moving
    await plane.give_back(order.order_id, accepted.held)

    assert moving == {order.order_id}
    assert (await stages(plane))[order.order_id] is Stage.QUEUED
    assert await plane.occupancy() == Occupancy(slots=1, taken=0)


async def test_what_a_node_offers_stands_while_another_process_serves_it(planes: Planes, clock: HandClock) -> None:
    first = await serving(planes(a_node(2, labels=("gpu",))), clock)
    assert first.node is not None
    plain = replace(first.node, slots=1, labels=())
    beside = await submitting(planes(plain), clock)
    await beside.beat(for_all=False, pulled_at=clock.now())

    assert [each.node for each in await first.nodes()] == [first.node]

    await first.leave()
    await beside.beat(for_all=False, pulled_at=clock.now())
    assert [each.node for each in await beside.nodes()] == [plain]


async def test_a_node_that_is_not_there_cannot_be_closed(planes: Planes) -> None:
    with pytest.raises(NotFound, match="silicon cluster nodes"):
        await planes().close(NodeId.new(), Closed.CORDONED, by=OPERATOR)


async def test_who_closed_a_node_and_from_where_is_a_fact_of_its_stream(
    planes: Planes, store: SqlStore, clock: HandClock
) -> None:
    plane = await serving(planes(), clock)
    node_id = plane.node.node_id  # type: ignore[union-attr]
    clock.advance(5)
    by = Closer("pager", "api from 192.0.2.7", "token/01JB0000000000000000000TKN")
    closed = await plane.close(node_id, Closed.DRAINING, by=by)
    again = await plane.close(node_id, Closed.DRAINING, by=OPERATOR)
    opened = await plane.close(node_id, Closed.OPEN, by=OPERATOR)

    assert closed.closing == again.closing == Closing(by, clock.now())
    assert opened.closing is None
    assert [(event.type, event.data) for event in await store.ledger.read(node_id)] == [
        ("node.closed", {"state": "draining", "by": {"name": by.name, "via": by.via, "principal": by.principal}}),
        ("node.opened", {"by": {"name": "ann", "via": "cli", "principal": None}}),
    ]
    assert await store.ledger.verify() == []
