"""One Ray on this machine for all tests here.

The tests share it, so all of them belong to one group of pytest-xdist and run in one process.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.workforce.ray.actors import connect
from runtime.settings.groups import RaySettings
from tests.crash.lives import open_desk
from tests.crash.office import desk
from tests.engines.two_nodes import NODE, TwoNodes, open_two_nodes

__all__ = ["desk"]

pytest.importorskip("ray", reason="Ray is not installed: pip install 'silicon-org[ray]'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("ray"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """One event loop for all tests here, so that what takes long to start can serve several of them."""
    return "asyncio"


@pytest.fixture(scope="session")
def module_desk() -> Iterator[int]:
    """A service for tests that share what they work on."""
    with open_desk() as port:
        yield port


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A node with two cores, to which tests may add others; this process is connected."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 2, "object_store_memory": NODE["object_store_memory"], "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAY_ADDRESS", cluster.address)
            assert connect(RaySettings())
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="session")
async def two_nodes(
    tmp_path_factory: pytest.TempPathFactory, module_desk: int, ray_cluster: Any
) -> AsyncIterator[TwoNodes]:
    """The counting house on two nodes."""
    async with open_two_nodes(tmp_path_factory.mktemp("house"), module_desk, ray_cluster) as two_nodes:
        yield two_nodes
