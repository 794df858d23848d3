"""Each node of Ray is a node of the cluster, with a resident bridge that is followed by another when it dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.ray_bridge import RayBridges
from tests.engines.conftest import STORE
from tests.engines.house import House, open_house

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.thorough]


@pytest.fixture
async def house(tmp_path: Path, desk: int, ray_cluster: Any) -> AsyncIterator[House]:
    """The counting house on two nodes, of which the second one has a label."""
    node = ray_cluster.add_node(num_cpus=1, object_store_memory=STORE, labels={"printer": "true"})
    try:
        async with open_house(tmp_path, desk, **{"cluster.beat_s": 0.5}) as house:
            await house.hosts()
            yield house
    finally:
        await asyncio.to_thread(ray_cluster.remove_node, node)


async def test_every_node_serves_the_queue_and_again_when_its_bridge_dies(house: House) -> None:
    bridges = house.resources.bridges
    assert bridges is not None
    before = await served_by(house, bridges, 2)

    for pid in before:
        psutil.Process(pid).kill()
    after = await served_by(house, bridges, 2, not_by=before)

    assert len(after) == 2
    told = await house.close_the_month()
    assert told.state == "done", told.result["error"]


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
