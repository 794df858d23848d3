"""What a process that only offers a node says where another one offers the same node."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cluster import ControlPlane
from console.server.errors import NodeOffered
from console.server.node import serve_node
from console.server.told import NodeUp, Stopped, Told
from console.wiring import control_plane_of
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings.load import Settings, load

pytestmark = pytest.mark.anyio


def offering(home: Path, **more: Any) -> Settings:
    return load({"home": str(home), "slot.count": 2, **more}, working=home.parent)


@asynccontextmanager
async def another_process(settings: Settings) -> AsyncIterator[ControlPlane]:
    """Enter the node of a folder, as a process does that serves it."""
    clock = SystemClock()
    store = await open_store(settings.ledger, home=settings.home, clock=clock)
    plane = control_plane_of(store, settings, clock)
    await plane.beat(for_all=True, pulled_at=clock.now())
    try:
        yield plane
    finally:
        await plane.leave()
        await store.close()


async def served(settings: Settings) -> list[Told]:
    """Serve until others can see the node, and return all that was told."""
    told: list[Told] = []

    def tell(each: Told) -> None:
        told.append(each)
        if isinstance(each, NodeUp):
            os.kill(os.getpid(), signal.SIGTERM)

    async with asyncio.timeout(60):
        await serve_node(settings, tell)
    return told


@pytest.mark.parametrize("otherwise", [{"slot.count": 1}, {"cluster.labels": ["printer"]}])
async def test_a_node_that_another_process_offers_otherwise_is_refused(
    tmp_path: Path, otherwise: dict[str, Any]
) -> None:
    async with another_process(offering(tmp_path / "home")) as first:
        with pytest.raises(NodeOffered, match=r"with 2 slots .*--folder") as refused:
            await serve_node(offering(tmp_path / "home", **otherwise), lambda told: None)

        assert first.node is not None
        assert refused.value.facts["node"] == first.node.node_id
        assert [each.node for each in await first.nodes()] == [first.node]


async def test_processes_of_one_folder_that_offer_the_same_share_its_node(tmp_path: Path) -> None:
    async with another_process(offering(tmp_path / "home")) as first:
        up, *_, stopped = await served(offering(tmp_path / "home"))

    assert first.node is not None
    assert isinstance(up, NodeUp) and (up.node_id, up.slots) == (first.node.node_id, 2)
    assert isinstance(stopped, Stopped)


async def test_a_folder_of_its_own_is_another_node(tmp_path: Path) -> None:
    folder = str(tmp_path / "other")
    async with another_process(offering(tmp_path / "home")) as first:
        up, *_ = await served(offering(tmp_path / "home", **{"slot.count": 1, "cluster.folder": folder}))

    assert first.node is not None
    assert isinstance(up, NodeUp) and up.slots == 1
    assert up.node_id != first.node.node_id


async def test_what_a_process_that_left_offered_binds_nobody(tmp_path: Path) -> None:
    async with another_process(offering(tmp_path / "home")):
        pass

    up, *_ = await served(offering(tmp_path / "home", **{"slot.count": 1}))

    assert isinstance(up, NodeUp) and up.slots == 1
