"""Stores and orders for the suites of the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster import Bridge, ControlPlane, EngineFactory, Gateway, Node, RlimitsDriver, this_node
from contracts import TaskOrder
from runtime.ledger.store import SqlStore
from runtime.settings import SlotSettings
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]

ONE_SLOT = SlotSettings(count=1, allocate_s=0.3, lease_s=15)


@pytest.fixture
def order() -> TaskOrder:
    return an_order()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return this_node(tmp_path, ONE_SLOT, labels=("linux",), cannot_enforce=("network",))


@pytest.fixture
def control_plane(sqlite_store: SqlStore, node: Node) -> ControlPlane:
    return ControlPlane(sqlite_store.leases, [node], ONE_SLOT)


class Rig:
    """A cluster of one slot, whose engine a test brings along."""

    def __init__(self, store: SqlStore, node: Node, home: Path, clock: HandClock) -> None:
        self.store, self.node, self.home, self.clock = store, node, home, clock

    def gateway(self, engine_for: EngineFactory, settings: SlotSettings = ONE_SLOT) -> Gateway:
        plane = ControlPlane(self.store.leases, [self.node], settings)
        bridge = Bridge(
            self.store, plane, engine_for, lambda index: RlimitsDriver(settings),
            home=self.home, clock=self.clock, settings=settings,
        )  # fmt: skip
        return Gateway(plane, bridge)


@pytest.fixture
def rig(sqlite_store: SqlStore, node: Node, tmp_path: Path, clock: HandClock) -> Rig:
    return Rig(sqlite_store, node, tmp_path, clock)
