"""Nodes in processes of their own: they carry out what a server's executions need, and may be killed or stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from cluster import Closed, ControlPlane, open_control_plane
from cluster.control_plane import Closer
from contracts import NodeId, OrderId
from runtime.clock import SystemClock
from runtime.errors import LedgerUnavailable
from runtime.ledger import open_store
from runtime.settings import ClusterSettings, LedgerSettings, SlotSettings
from tests.console.server.office import Site, Up

T = TypeVar("T")

pytestmark = pytest.mark.xdist_group("servers")
ALL = Counter(s1=1, s2=1, s3=1, s4=1)
QUICK = {
    "SILICON_SLOT__LEASE_S": "4",
    "SILICON_CLUSTER__BEAT_S": "1",
    "SILICON_CLUSTER__PULL_S": "0.05",
    "SILICON_EXECUTOR__DRAIN_S": "0.2",
}
PAIR = """\
---
name: pair
description: Do a pair of pieces
metadata: {when_to_use: Two pieces belong together., words: pair of pieces, tier: execution}
---
It is done.
"""


@dataclass
class NodeProcess:
    """A node that serves."""

    process: subprocess.Popen[str]
    node_id: str

    def stop(self) -> list[str]:
        """Ask it to end; return what it told."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return [json.loads(line)["event"] for line in out.splitlines()]


@contextmanager
def a_node(site: Site, name: str, *words: str) -> Iterator[NodeProcess]:
    """Start a node of one slot; it is killed at the end, where it still runs."""
    process = site.start("cluster", "serve", "--slots", "1", "--folder", name, "--json", *words, **QUICK)
    try:
        yield NodeProcess(process, site._first_line(process)["node_id"])
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def a_server_without_slots(site: Site) -> Iterator[Up]:
    """Start a server whose own node is cordoned, so that others do its orders."""
    with site.up(str(site.office), **QUICK) as up:
        own = NodeId((site.folder / "home" / "node").read_text())
        ask_plane(site, lambda plane: plane.close(own, Closed.CORDONED, by=Closer("ann", "cli")))
        yield up


def ask_plane(site: Site, what: Callable[[ControlPlane], Awaitable[T]], *, busy_timeout_s: float = 15.0) -> T:
    """Ask the control plane what a command would; a command takes a second to start."""

    async def ask() -> T:
        store = await open_store(
            LedgerSettings(busy_timeout_s=busy_timeout_s), home=site.folder / "home", clock=SystemClock()
        )
        try:
            slot, cluster = SlotSettings(), ClusterSettings()
            return await what(open_control_plane(store, None, SystemClock(), slot=slot, cluster=cluster))
        finally:
            await store.close()

    return asyncio.run(ask())


def nodes_of(events: list[dict[str, Any]]) -> list[str]:
    """Return the nodes that had an order, in the order of their first."""
    allocated = [each["data"]["allocation"] for each in events if each["type"] == "order.allocated"]
    return list(dict.fromkeys(each["node_id"] for each in allocated))


def nodes_of_order(events: list[dict[str, Any]], order: str) -> list[str]:
    return nodes_of([each for each in events if each["subject"] == order])


def freeze(site: Site, node: NodeProcess) -> None:
    """Stop the process with SIGSTOP, but never while it has the lock of the embedded file, which nobody can break."""
    while True:
        os.kill(node.process.pid, signal.SIGSTOP)
        try:
            ask_plane(site, lambda plane: plane.withdraw(OrderId.new()), busy_timeout_s=1.0)
        except LedgerUnavailable:
            os.kill(node.process.pid, signal.SIGCONT)
        else:
            return


def order_on(site: Site, node: NodeProcess) -> str:
    """Return the order that the node has."""
    rows = ask_plane(site, lambda plane: plane.orders())
    (order_id,) = [each.order_id for each in rows if each.node_id == node.node_id]
    return str(order_id)


def test_the_orders_of_a_killed_node_go_on_at_another_and_nothing_finished_is_done_again(site: Site) -> None:
    site.work.held = {"s2"}
    with a_server_without_slots(site) as up, a_node(site, "one", "--label", "gpu") as first:
        execution = site.submit(up)
        site.work.wait_for("s2")
        order = order_on(site, first)
        listed = {each.node.node_id: each for each in ask_plane(site, lambda plane: plane.nodes())}
        with a_node(site, "two") as second:
            first.process.kill()
            site.work.wait_for("s2", times=2)
            site.work.release()
            events = site.follow(up, execution)
            told = second.stop()

    assert "gpu" in listed[NodeId(first.node_id)].node.labels
    assert site.work.calls == ALL + Counter(s2=1)
    assert nodes_of(events) == nodes_of_order(events, order) == [first.node_id, second.node_id]
    assert told == ["stopping", "stopped"]
    assert site.run("audit", "verify")["faults"] == []


def test_a_node_that_was_stopped_for_longer_than_its_lease_does_nothing_when_it_wakes(site: Site) -> None:
    """Its order has a second piece of work, which only the node that has the order now may begin."""
    folder = site.office / "skills" / "pair"
    folder.mkdir()
    (folder / "SKILL.md").write_text(PAIR)
    steps = [{"id": name, "use": "desk.work", "with": {"step": name}} for name in ("p1", "p2")]
    (folder / "plan.yaml").write_text(json.dumps({"steps": [steps[0], {**steps[1], "after": ["p1"]}]}))
    org = site.office / "org.yaml"
    org.write_text(org.read_text().replace("can: [desk.work]", "skills: [pair], can: [desk.work]"))
    site.work.held = {"p1"}
    with a_server_without_slots(site) as up, a_node(site, "one") as stopped:
        execution = site.submit(up, "Do a pair of pieces")
        site.work.wait_for("p1")
        order_on(site, stopped)
        freeze(site, stopped)
        with a_node(site, "two") as other:
            site.work.wait_for("p1", times=2)
            site.work.release()
            events = site.follow(up, execution)
            os.kill(stopped.process.pid, signal.SIGCONT)
            told = stopped.stop()

    assert nodes_of(events) == [stopped.node_id, other.node_id]
    assert site.work.calls == Counter(p1=2, p2=1)
    assert told == ["stopping", "stopped"]
    assert site.run("audit", "verify")["faults"] == []


def test_a_cancel_reaches_an_order_on_another_node(site: Site) -> None:
    site.work.held = {"s1"}
    with a_server_without_slots(site) as up, a_node(site, "one"):
        execution = site.submit(up)
        site.work.wait_for("s1")
        site.ask(up, "POST", f"/executions/{execution}/cancel", {"as": "planner"})
        site.follow(up, execution)
        state = site.state(up, execution)
        occupancy = ask_plane(site, lambda plane: plane.occupancy())

    assert state == "cancelled"
    assert site.work.calls == Counter(s1=1)
    assert occupancy.taken == 0


def test_an_order_goes_on_while_the_server_that_submitted_it_is_killed_and_started_again(site: Site) -> None:
    site.work.held = {"s2"}
    with a_node(site, "one") as node:
        with a_server_without_slots(site) as up:
            execution = site.submit(up)
            site.work.wait_for("s2")
            up.kill()
        with site.up(str(site.office), **QUICK) as again:
            site.work.release()
            events = site.follow(again, execution)

    assert site.work.calls == ALL
    assert nodes_of(events) == [node.node_id]
