"""The counting house on two nodes of Ray, of which one may be killed, and what a month comes to there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from contracts import Event
from tests.crash.lives import result_without
from tests.crash.person import Told
from tests.engines.holding_office import let_go
from tests.engines.house import House, open_house

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024}


@dataclass
class TwoNodes:
    """The house on two nodes, and what a month comes to that nothing disturbs."""

    house: House
    ray: Any
    second: Any
    """The node that may be killed."""
    expected: Told

    async def after(
        self, key: str, closing: asyncio.Future[Told] | None, kill: Callable[[], Awaitable[None]]
    ) -> timedelta:
        """Kill something and see the month closed as if nothing had happened; return how long that was in coming."""
        house, died = self.house, datetime.now(UTC)
        await kill()
        let_go(house.home)
        async with asyncio.timeout(60):
            told = await (closing or asyncio.ensure_future(house.close_the_month(key)))

        assert told.state == "done", told.result["error"]
        assert told.twice == []
        assert result_without(told) == result_without(self.expected, told.doubts)
        assert house.times("/payments") == house.times("/letters") == 1
        after = await house.told_after(died)
        assert _finished_before(await house.told_after(datetime.min.replace(tzinfo=UTC)), died).isdisjoint(
            event.subject for event in after
        ), "an order that was finished moved"
        return min(event.time for event in after) - died


def _finished_before(events: list[Event], moment: datetime) -> set[str]:
    return {event.subject for event in events if event.type == "order.finished" and event.time <= moment}


@asynccontextmanager
async def open_two_nodes(folder: Path, desk: int, ray_cluster: Any) -> AsyncIterator[TwoNodes]:
    """Add a node with the label `printer`, and open the house on it and the one there was."""
    second = ray_cluster.add_node(**NODE, labels={"printer": "true"})
    async with open_house(folder, desk) as house:
        await house.hosts(2)
        two_nodes = TwoNodes(house, ray_cluster, second, await house.close_the_month())
        yield two_nodes
        assert await house.is_whole()
    await asyncio.to_thread(ray_cluster.remove_node, two_nodes.second)
