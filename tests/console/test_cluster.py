"""`silicon cluster`, on a ledger with a node in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

import console.cli.session as session_module
from cluster import ControlPlane, Node, open_control_plane
from console.application import open_application
from contracts import NodeId
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import ClusterSettings, LedgerSettings, SlotSettings
from tests.console.conftest import Silicon
from tests.fakes.orders import an_order

NODE = Node(NodeId("node/01JB0000000000000000000NDE"), 1, ("gpu",), "rlimits", ("network",))
T = TypeVar("T")


@pytest.fixture
def cluster(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> Silicon:
    """The command line over a real ledger, in which one node serves and has one order in its slot and one in line."""
    monkeypatch.setattr(session_module, "opener", lambda: open_application)
    on_plane(silicon.home, enter)
    return silicon


def on_plane(home: Path, what: Callable[[ControlPlane], Awaitable[T]]) -> T:
    async def ask() -> T:
        store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
        try:
            plane = open_control_plane(
                store, NODE, SystemClock(), slot=SlotSettings(lease_s=600), cluster=ClusterSettings()
            )
            return await what(plane)
        finally:
            await store.close()

    return asyncio.run(ask())


async def enter(plane: ControlPlane) -> None:
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    await plane.enqueue(an_order(labels=("gpu",), priority=3))
    await plane.enqueue(an_order())


def test_a_node_is_listed_with_what_it_offers_and_cannot_hold(cluster: Silicon) -> None:
    lines = cluster("cluster", "nodes").out.splitlines()

    assert cluster.code == 0
    assert lines[0] == f"{NODE.node_id}  open  1 of 1 slots taken"
    assert lines[1].startswith("  rlimits · gpu · last beat ")
    assert lines[2] == "  cannot enforce: network"
    (node,) = cluster("cluster", "nodes", "--json").json["nodes"]
    assert (node["node_id"], node["state"], node["slots"], node["taken"]) == (NODE.node_id, "open", 1, 1)


def test_orders_stand_as_they_are_served(cluster: Silicon) -> None:
    said = cluster("cluster", "orders").out

    assert said.startswith("One order waits for a slot.")
    assert "priority 3" in said
    told = cluster("cluster", "orders", "--json").json
    assert told["waiting"] == 1
    assert [(each["state"], each["priority"]) for each in told["orders"]] == [("running", 3), ("queued", 0)]
    assert cluster("cluster", "orders", "--organisation", "other", "--json").json["orders"] == []


def test_slots_tell_who_holds_them(cluster: Silicon) -> None:
    (slot,) = cluster("cluster", "slots", "--json").json["slots"]

    assert slot["order_id"].startswith("order/")
    assert slot["organisation"] == "three-airports"


def test_slots_tell_which_are_kept_ready(cluster: Silicon) -> None:
    async def keep(plane: ControlPlane) -> None:
        node = Node(NodeId("node/01JB0000000000000000000WRM"), 1)
        store = plane._store  # type: ignore[attr-defined]
        other = open_control_plane(store, node, SystemClock(), slot=SlotSettings(), cluster=ClusterSettings())
        await other.beat(for_all=True, pulled_at=SystemClock().now())
        await other.warm((0,))

    on_plane(cluster.home, keep)

    assert cluster("cluster", "slots").out.strip().endswith("free, kept ready")


def test_a_node_is_cordoned_drained_and_opened_by_the_last_letters_of_its_id(cluster: Silicon) -> None:
    assert cluster("cluster", "cordon", "0NDE").out.startswith(f"{NODE.node_id} takes no new orders.")
    assert cluster("cluster", "drain", "0NDE", "--json").json["state"] == "draining"
    assert cluster("cluster", "drain", "0NDE", "--wait", "0.01").code == 1
    assert cluster("cluster", "uncordon", "0NDE", "--json").json["state"] == "open"


def test_a_node_that_is_not_there_is_told(cluster: Silicon) -> None:
    said = cluster("cluster", "drain", "0000")

    assert said.code == 2
    assert "No node is called '0000'" in said.err


def test_without_a_node_the_commands_say_how_to_offer_one(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "opener", lambda: open_application)

    assert "silicon cluster serve" in silicon("cluster", "nodes").out
    assert silicon("cluster", "orders").out == "No order waits for a slot.\n"
