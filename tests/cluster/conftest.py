"""Stores and orders for the suites of the cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from cluster import (
    Bridge,
    ControlPlane,
    Engines,
    Gateway,
    Node,
    RlimitsDriver,
    StepEngine,
    open_control_plane,
    this_node,
)
from contracts import TaskOrder
from runtime.ledger.port import Lease
from runtime.ledger.store import SqlStore
from runtime.settings import ClusterSettings, SlotSettings
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]

ONE_SLOT = SlotSettings(count=1, allocate_s=0.3, lease_s=15)
QUICK = ClusterSettings(pull_s=0.02, beat_s=0.1)


@pytest.fixture
def order() -> TaskOrder:
    return an_order()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return this_node(tmp_path, ONE_SLOT, labels=("linux",), cannot_enforce=("network",))


class Rig:
    """A cluster of one slot, whose engine a test brings along."""

    def __init__(self, store: SqlStore, node: Node, home: Path, clock: HandClock) -> None:
        self.store, self.node, self.home, self.clock = store, node, home, clock
        self.bridges: list[Bridge] = []

    def plane(
        self, settings: SlotSettings = ONE_SLOT, *, node: Node | None = None, cluster: ClusterSettings = QUICK
    ) -> ControlPlane:
        """Return the control plane as one more process sees it."""
        return open_control_plane(self.store, node or self.node, self.clock, slot=settings, cluster=cluster)

    def bridge(
        self, settings: SlotSettings = ONE_SLOT, *, node: Node | None = None, engines: Engines | None = None,
        plane: ControlPlane | None = None,
    ) -> Bridge:  # fmt: skip
        """Return the bridge of one more process."""
        bridge = Bridge(
            self.store, plane or self.plane(settings, node=node), lambda index: RlimitsDriver(settings),
            home=self.home, clock=self.clock, settings=settings, cluster=QUICK, engines=engines,
        )  # fmt: skip
        self.bridges.append(bridge)
        return bridge

    def gateway(
        self, engine_for: Callable[[Sequence[Lease]], StepEngine], settings: SlotSettings = ONE_SLOT, *,
        node: Node | None = None,
    ) -> Gateway:  # fmt: skip
        """Return the way into the cluster of one more process."""
        plane = self.plane(settings, node=node)
        return Gateway(plane, self.bridge(settings, plane=plane), lambda leases, still_held: engine_for(leases))


@pytest.fixture
async def rig(sqlite_store: SqlStore, node: Node, tmp_path: Path, clock: HandClock) -> AsyncIterator[Rig]:
    rig = Rig(sqlite_store, node, tmp_path, clock)
    yield rig
    for bridge in rig.bridges:
        await bridge.close()
