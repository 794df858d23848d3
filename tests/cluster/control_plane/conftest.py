"""Control planes over each real database, for the suites of the control plane. Each one is one more process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cluster import ControlPlane, Node, open_control_plane
from cluster.control_plane import Closer, Stage
from contracts import NodeId, OrderState, StatusReport, TaskOrder
from runtime.ledger.store import SqlStore
from runtime.settings import ClusterSettings, SlotSettings
from tests.fakes.clock import HandClock

OPERATOR = Closer("ann", "cli")
Planes = Callable[..., ControlPlane]


@pytest.fixture
def planes(store: SqlStore, clock: HandClock) -> Planes:
    """Make control planes of more processes: on a node of their own unless one is given."""

    def plane(node: Node | None = None, **settings: Any) -> ControlPlane:
        return open_control_plane(
            store, node or a_node(), clock, slot=SlotSettings(lease_s=15), cluster=ClusterSettings(**settings)
        )

    return plane


def a_node(slots: int = 1, **facts: tuple[str, ...]) -> Node:
    return Node(NodeId.new(), slots, **facts)  # type: ignore[arg-type]


async def serving(plane: ControlPlane, clock: HandClock) -> ControlPlane:
    """Let the process serve everybody."""
    await plane.beat(for_all=True, pulled_at=clock.now())
    return plane


async def submitting(plane: ControlPlane, clock: HandClock) -> ControlPlane:
    """Let the process carry out what it submits itself."""
    await plane.beat(for_all=False, pulled_at=clock.now())
    return plane


def done(order: TaskOrder) -> StatusReport:
    return StatusReport(order_id=order.order_id, state=OrderState.DONE)


async def stages(plane: ControlPlane) -> dict[str, Stage]:
    return {each.order_id: each.stage for each in await plane.orders()}
