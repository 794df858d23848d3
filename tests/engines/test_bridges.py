"""Each node of Ray is a node of the cluster, with a resident bridge that is followed by another when it dies."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from cluster import Closed
from cluster.ray_bridge import RayBridges
from console.application import SiliconApplication
from console.views import ExecutionOutcome
from contracts import NodeId
from tests.engines.holding_office import hold_at, let_go, until_held
from tests.engines.house import House
from tests.engines.mill import make_mill
from tests.engines.scenes import Mill
from tests.engines.two_nodes import TwoNodes

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.thorough]


async def test_every_node_serves_the_queue_and_again_when_its_bridge_dies(two_nodes: TwoNodes) -> None:
    house = two_nodes.house
    bridges = house.resources.bridges
    assert bridges is not None
    before = await served_by(house, bridges, 2)

    for pid in before:
        psutil.Process(pid).kill()
    after = await served_by(house, bridges, 2, not_by=before)

    assert len(after) == 2
    told = await house.close_the_month()
    assert told.state == "done", told.result["error"]


async def test_a_node_that_is_drained_hands_its_order_on_and_gets_no_more(two_nodes: TwoNodes, tmp_path: Path) -> None:
    house = two_nodes.house
    mill = Mill(house.resources, SiliconApplication(house.resources), house.home, tmp_path / "mill", house.desk)
    make_mill(mill.folder, mill.desk)
    hosts, where = await house.hosts(2), (await house.pool()).where
    first, second = where[hosts[0]], where[hosts[1]]
    await house.set_closed(first, Closed.CORDONED)  # the head's host would carry the order out itself
    hold_at(house.home, "clerk:order:step.finished(page)", after=True)
    keeping = asyncio.ensure_future(mill.ask("keep-notes", number=7))
    async with asyncio.timeout(60):
        held = await until_held(house.home)
    assert house.resources.bridges is not None
    assert held in (await house.resources.bridges.pids()).values()

    await house.set_closed(first, Closed.OPEN)
    await house.set_closed(second, Closed.DRAINING)
    await until_looked(house, house.node_id(second), datetime.now(UTC))
    let_go(house.home)
    kept = await keeping
    again = await mill.ask("keep-notes", number=5)
    await house.set_closed(second, Closed.OPEN)

    assert (kept.output, again.output) == ({"total": 7}, {"total": 12})
    assert await placed(mill, kept) == [house.node_id(second), house.node_id(first)]
    assert await placed(mill, again) == [house.node_id(first)]


async def until_looked(house: House, node_id: NodeId, moment: datetime) -> None:
    """Return once a node has looked at the queue after a moment."""
    plane = (await house.resources.organisations()).plane
    async with asyncio.timeout(60):
        while True:
            (looked,) = [each.pulled_at for each in await plane.nodes() if each.node.node_id == node_id]
            if looked is not None and looked > moment:
                return
            await asyncio.sleep(0.05)  # it does so in another process


async def placed(mill: Mill, outcome: ExecutionOutcome) -> list[NodeId]:
    """Return the nodes on which the clerk's order of an execution was, after making sure that no step ran twice."""
    events = [event async for event in mill.application.events(outcome.execution_id, after=0, follow=False)]
    steps = [event.data["step"] for event in events if event.type == "step.finished" and event.data]
    assert sorted(steps) == ["add", "keep", "page"]
    slots = [event.data["allocation"] for event in events if event.type == "order.allocated" and event.data]
    return [NodeId(slot["node_id"]) for slot in slots]


async def served_by(
    house: House, bridges: RayBridges, count: int, *, not_by: frozenset[int] = frozenset()
) -> frozenset[int]:
    """Return the processes of the bridges once so many nodes are served, one of them with the label."""
    plane = (await house.resources.organisations()).plane
    async with asyncio.timeout(100):
        while True:
            served = [each.node for each in await plane.nodes() if each.runners and not each.lost]
            pids = frozenset((await bridges.pids()).values()) - not_by
            if len(pids) == count and len(served) >= count and any("printer" in node.labels for node in served):
                return pids
            await asyncio.sleep(0.2)  # it is the queue's table that tells
