"""Whatever dies on Ray, and whenever: the finished stays, the rest goes on elsewhere, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

from console.application import SiliconApplication
from console.resources import Resources
from runtime.settings.load import load
from tests.crash.dying_store import Death
from tests.crash.lives import copy_organisation, result_without
from tests.crash.person import Person, Task, Told, ask_desk
from tests.engines import dying_office
from tests.engines.conftest import STORE
from tests.engines.dying_office import choose_death, has_died

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]
SETTINGS: dict[str, Any] = {
    "workforce.engine": "ray",
    "executor.lease_s": 3.0,
    "executor.renew_s": 0.5,
    "slot.lease_s": 1.0,
    "slot.count": 4,
    "engine.settle_s": 0.0,
    "ledger.synchronous": "NORMAL",
}


class OfficeThatMayDie(Resources):
    """The resources of a process whose hosts die where a test says so."""

    office = f"{dying_office.__name__}:open_office"


@dataclass
class House:
    """The counting house with hosts on Ray, and a service that counts what it receives."""

    home: Path
    folder: Path
    desk: int
    resources: Resources
    _keys: Iterator[int] = field(default_factory=count)

    async def close_the_month(self, key: str | None = None) -> Told:
        """Have the month closed, whatever dies meanwhile."""
        task = Task(str(self.home), "", str(self.folder), self.desk, key or self.begin())
        return await Person(self.resources, task, Death()).see_it_through()

    def begin(self) -> str:
        """Return a new key; the service begins a new log."""
        ask_desk(self.desk, "/begin", {})
        return f"key-{next(self._keys)}"

    async def hosts(self) -> list[Any]:
        """Return the addresses of the hosts that live."""
        hosts = (await self.resources.organisations()).hosts
        assert hosts is not None
        return list(await hosts.ready())

    async def processes(self) -> list[psutil.Process]:
        """Return the processes of the hosts, which stand in their leases."""
        return [psutil.Process(int(host.lease.holder.split("/")[2])) for host in await self.hosts()]

    def times(self, path: str) -> int:
        """Return how often the service was called there."""
        return sum(call["path"] == path for call in ask_desk(self.desk, "/log"))

    async def is_whole(self) -> bool:
        """Whether the audit finds nothing."""
        return not (await SiliconApplication(self.resources).verify()).faults


@asynccontextmanager
async def open_house(folder: Path, desk: int, **settings: Any) -> AsyncIterator[House]:
    copy_organisation(folder / "organisation", desk)
    home = folder / "home"
    home.mkdir()
    resources = OfficeThatMayDie(load({"home": str(home), **SETTINGS, **settings}))
    try:
        yield House(home, folder / "organisation", desk, resources)
    finally:
        await resources.close()


@pytest.fixture
async def house(tmp_path: Path, desk: int, ray_cluster: Any) -> AsyncIterator[House]:
    async with open_house(tmp_path, desk) as house:
        yield house


PLAN = "head-of-desk:order:order.accepted"
DISPATCH = "chief:order:step.dispatched(settle)"
EXECUTION = "payer:order:effect.intended(do)"
REPORT = "head-of-desk:order:order.finished"
FIRST, LAST = "chief:order:order.accepted", "chief:order:order.finished"
POINTS = [
    (FIRST, True), (PLAN, False), (DISPATCH, True), (EXECUTION, False), (EXECUTION, True), (REPORT, False), (LAST, True)
]  # fmt: skip
"""Events at whose commit a host dies, before it or right after it."""


@pytest.mark.thorough
async def test_a_host_killed_at_any_phase_is_followed_by_another(house: House) -> None:
    expected = await house.close_the_month()

    for label, after in POINTS:
        choose_death(house.home, label, after=after)

        told = await house.close_the_month()

        assert has_died(house.home), f"nobody came to {label}"
        assert told.state == "done", f"{label}: {told.result['error']}"
        assert told.twice == [], label
        assert result_without(told) == result_without(expected, told.doubts), label
        assert house.times("/payments") == house.times("/letters") == 1, f"{label} after={after}"
    assert await house.is_whole()


@pytest.mark.parametrize("path", ["/payments"])
async def test_a_host_killed_between_an_effect_and_its_answer_leaves_one_effect(house: House, path: str) -> None:
    expected = await house.close_the_month()
    key = house.begin()
    ask_desk(house.desk, "/hold", {"path": path})
    closing = asyncio.ensure_future(house.close_the_month(key))
    await asyncio.to_thread(ask_desk, house.desk, f"/await{path}")

    for process in await house.processes():
        process.kill()
    ask_desk(house.desk, "/hold", {"path": ""})
    told = await closing

    assert told.state == "done", told.result["error"]
    assert house.times(path) == 1
    assert result_without(told) == result_without(expected, told.doubts)


@pytest.mark.thorough
async def test_a_host_that_stands_still_loses_its_orders_and_is_gone_when_it_wakes(house: House) -> None:
    expected = await house.close_the_month()
    key = house.begin()
    ask_desk(house.desk, "/hold", {"path": "/payments"})
    closing = asyncio.ensure_future(house.close_the_month(key))
    await asyncio.to_thread(ask_desk, house.desk, "/await/payments")
    frozen = await house.processes()

    for process in frozen:
        process.suspend()
    ask_desk(house.desk, "/hold", {"path": ""})
    told = await closing
    for process in frozen:
        with suppress(psutil.NoSuchProcess):  # nobody waited until it woke: whoever started it has ended it
            process.resume()
    gone, alive = await asyncio.to_thread(psutil.wait_procs, frozen, 30)

    assert told.state == "done", told.result["error"]
    assert house.times("/payments") == 1
    assert result_without(told) == result_without(expected, told.doubts)
    assert (len(gone), alive) == (len(frozen), [])
    assert await house.is_whole()


@pytest.mark.thorough
async def test_a_node_that_is_lost_takes_nothing_with_it(tmp_path: Path, desk: int, ray_cluster: Any) -> None:
    node = ray_cluster.add_node(num_cpus=1, object_store_memory=STORE)
    async with open_house(tmp_path, desk) as house:
        expected = await house.close_the_month()
        assert len(await house.hosts()) == 3
        key = house.begin()
        ask_desk(desk, "/hold", {"path": "/payments"})
        closing = asyncio.ensure_future(house.close_the_month(key))
        await asyncio.to_thread(ask_desk, desk, "/await/payments")

        await asyncio.to_thread(ray_cluster.remove_node, node, allow_graceful=False)
        ask_desk(desk, "/hold", {"path": ""})
        told = await closing

        assert told.state == "done", told.result["error"]
        assert house.times("/payments") == 1
        assert result_without(told) == result_without(expected, told.doubts)
        assert await house.is_whole()
