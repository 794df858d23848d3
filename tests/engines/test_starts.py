"""Hosts on Ray whose processes end while they start: they are started again, and then it is reported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.workforce.errors import HostNotReady
from agents.workforce.ray import Blueprint, Hosts, actors
from agents.workforce.ray.starting import HostsAwaited
from runtime.settings.groups import RaySettings
from tests.engines.dying_office import let_die
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.thorough]
HOSTS = 2


@asynccontextmanager
async def pool(home: Path, leases: Any) -> AsyncIterator[tuple[Hosts, list[HostsAwaited]]]:
    """Two hosts of a home folder, and what was told while they started."""
    blueprint = Blueprint("tests.engines.dying_office:open_office", str(home), {"ledger.synchronous": "NORMAL"})
    pool = Hosts(blueprint, RaySettings(hosts_per_node=HOSTS), leases, look_s=1.0, embedded=True)
    told: list[HostsAwaited] = []
    tell = pool._tell
    pool._tell = lambda awaited: (told.append(awaited) if awaited else None, tell(awaited))[1]  # type: ignore[method-assign]
    try:
        yield pool, told
    finally:
        await pool.close()


async def test_hosts_that_all_end_while_they_start_are_started_again(
    ray_cluster: Any, sqlite_store: Any, tmp_path: Path
) -> None:
    let_die(tmp_path, 2 * HOSTS * len(actors.nodes()))
    async with pool(tmp_path, sqlite_store.leases) as (hosts, told):
        assert len(await hosts.ready()) >= 1
    assert [(each.tried, each.tries) for each in told] == [(1, 3), (2, 3)]


async def test_after_the_last_try_it_is_reported_why(ray_cluster: Any, sqlite_store: Any, tmp_path: Path) -> None:
    let_die(tmp_path, 100)
    async with pool(tmp_path, sqlite_store.leases) as (hosts, told):
        with pytest.raises(HostNotReady, match="each of 3 tries"):
            await hosts.ready()
    assert len(told) == 2
