"""Hosts follow the nodes of Ray: as those come, go and fail to start any; here without Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from agents.workforce.errors import HostNotReady, LedgerNotShared, RayUnavailable
from agents.workforce.ray import actors, hosts, starting
from agents.workforce.ray.actors import Blueprint, RayNode
from agents.workforce.ray.hosts import Hosts
from agents.workforce.ray.messages import Address
from agents.workforce.ray.starting import HostsAwaited
from runtime.errors import SchemaMismatch
from runtime.ledger.store import SqlStore
from runtime.settings.groups import RaySettings
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio


@dataclass
class Ray:
    """The nodes there are, and hosts that were started on them."""

    store: SqlStore
    nodes: list[RayNode] = field(default_factory=lambda: [RayNode("one", "10.0.0.1", 2)])
    broken: set[str] = field(default_factory=set)
    started: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    seen: list[HostsAwaited | None] = field(default_factory=list)
    """What was told of hosts that do not start, whenever one was started."""
    dies: int = 0
    """So many hosts end while they start, the first ones."""
    fault: Exception = field(default_factory=lambda: HostNotReady("Nothing starts there."))
    pool: Hosts = field(init=False)
    looked: int = 0
    several: bool = False

    def look(self) -> list[RayNode]:
        self.looked += 1
        return list(self.nodes)

    async def start(self, actor: str, node: RayNode) -> Address:
        self.started.append(node.node_id)
        self.seen.append(self.pool.awaited)
        if node.node_id in self.broken or len(self.started) <= self.dies:
            raise self.fault
        lease = await self.store.leases.acquire(f"host/test/{len(self.started)}", actor, 60.0)
        assert lease is not None
        return Address(actor, lease)

    def kill(self, actor: str) -> None:
        self.killed.append(actor)

    async def call(self, actor: str, method: str, message: bytes) -> bytes:
        return b""


@pytest.fixture
def ray(sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> Ray:
    ray = Ray(sqlite_store)
    monkeypatch.setattr(actors, "connect", lambda settings: False)
    monkeypatch.setattr(actors, "nodes", ray.look)
    for name in ("_LOOK_S", "_OTHERS_S"):
        monkeypatch.setattr(hosts, name, 0.01)
    monkeypatch.setattr(starting, "AGAIN_S", 0.01)
    return ray


@pytest.fixture
async def pool(ray: Ray) -> AsyncIterator[Hosts]:
    pool = Hosts(
        Blueprint("nothing:opens", "/nowhere", {}), RaySettings(), ray.store.leases, look_s=60.0, embedded=True,
        settle=lambda nodes: ray.settled.append(len(nodes)),
    )  # fmt: skip
    ray.pool = pool
    pool.line = ray  # type: ignore[assignment]
    yield pool
    await pool.close()


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_there_is_one_host_for_each_core(pool: Hosts, ray: Ray) -> None:
    assert len(await pool.ready()) == 2
    assert set(pool.where.values()) == {"one"}


async def test_a_node_that_joins_later_gets_hosts_without_any_loss(pool: Hosts, ray: Ray) -> None:
    await pool.ready()

    ray.nodes.append(RayNode("two", "10.0.0.1", 1))
    await until(lambda: "two" in pool.where.values())

    assert len(await pool.ready()) == 3
    assert ray.settled[-1] == 2
    assert ray.killed == []


async def test_the_last_node_of_several_keeps_its_bridge_and_starts_hosts_as_before(pool: Hosts, ray: Ray) -> None:
    await pool.ready()
    assert ray.settled[-1] == 0  # a node alone needs none

    ray.nodes.append(RayNode("two", "10.0.0.1", 1))
    await until(lambda: ray.settled[-1] == 2)
    ray.nodes.pop()
    await until(lambda: ray.settled[-1] == 1)

    assert ray.several


async def test_a_lost_host_is_started_anew_while_the_others_go_on(pool: Hosts, ray: Ray) -> None:
    first, second = await pool.ready()

    await pool.vigil.give_up(first)
    assert await pool.ready() == (second,)
    await until(lambda: len(pool.where) == 2)

    assert ray.killed == [first.actor]


async def test_a_node_on_which_nothing_starts_is_tried_again_and_stops_nobody(pool: Hosts, ray: Ray) -> None:
    ray.nodes.append(RayNode("two", "10.0.0.1", 1))
    ray.broken.add("two")

    assert len(await pool.ready()) == 2
    await until(lambda: ray.started.count("two") > 2)
    ray.broken.clear()
    await until(lambda: "two" in pool.where.values())


async def test_waits_between_tries_grow(pool: Hosts, ray: Ray) -> None:
    ray.nodes.append(RayNode("two", "10.0.0.1", 1))
    ray.broken.add("two")
    await pool.ready()

    await until(lambda: ray.started.count("two") > 3)

    assert pool._refused["two"][1] >= 4 * starting.AGAIN_S


async def test_where_no_host_starts_the_reason_is_told(pool: Hosts, ray: Ray) -> None:
    ray.broken.add("one")
    with pytest.raises(HostNotReady, match=r"Nothing starts there. So it was in each of 3 tries \("):
        await pool.ready()
    assert (len(ray.started), pool.awaited) == (6, None)

    ray.nodes.clear()
    with pytest.raises(RayUnavailable, match="no node that lives"):
        await pool.ready()


async def test_hosts_that_end_while_they_start_are_started_again_and_that_is_told(pool: Hosts, ray: Ray) -> None:
    ray.dies = 4

    assert len(await pool.ready()) == 2
    tried = [0 if each is None else each.tried for each in ray.seen]
    assert (tried, pool.awaited) == ([0, 0, 1, 1, 2, 2], None)
    assert ray.seen[-1] == HostsAwaited(2, 3, "Nothing starts there.")


async def test_whoever_needs_hosts_meanwhile_waits_for_the_same_ones(pool: Hosts, ray: Ray) -> None:
    ray.dies = 2

    first, second = await asyncio.gather(pool.ready(), pool.ready())
    assert (set(first), len(ray.started)) == (set(second), 4)


async def test_what_an_office_cannot_open_is_not_tried_again(pool: Hosts, ray: Ray) -> None:
    ray.broken.add("one")
    ray.fault = SchemaMismatch("Another schema.")

    with pytest.raises(SchemaMismatch):
        await pool.ready()
    assert len(ray.started) == 2


async def test_a_ledger_in_a_file_is_refused_on_several_machines_before_anything_starts(pool: Hosts, ray: Ray) -> None:
    ray.nodes.append(RayNode("two", "10.0.0.2", 1))

    with pytest.raises(LedgerNotShared, match=r"Ray spans 2 machines.*Set ledger.url to a server database"):
        await pool.ready()

    assert ray.started == []


async def test_a_second_machine_that_joins_later_is_left_alone_with_such_a_ledger(pool: Hosts, ray: Ray) -> None:
    before = await pool.ready()

    ray.nodes.append(RayNode("two", "10.0.0.2", 1))
    settled, looked = len(ray.settled), ray.looked
    await until(lambda: ray.looked > looked + 2)

    assert len(ray.settled) == settled
    assert (await pool.ready(), set(ray.started)) == (before, {"one"})
