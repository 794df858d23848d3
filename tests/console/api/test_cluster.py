"""The cluster over HTTP, and its numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cluster import Node, open_control_plane
from contracts import ExecutionId, NodeId, OrderId
from runtime.clock import SystemClock
from runtime.ledger.port import Append, NewEvent
from runtime.settings import ClusterSettings, SlotSettings
from tests.console.api.conftest import GOAL, Served
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
NODE = Node(NodeId("node/01JB0000000000000000000NDE"), 1, ("gpu",), "rlimits", ("network",))
PATH = f"/cluster/nodes/{NODE.node_id.ulid}"


@pytest.fixture
async def busy(served: Served) -> AsyncIterator[Served]:
    """A server in whose ledger one node has an order in its slot, and one of the desk waits."""
    plane = open_control_plane(
        served.store, NODE, SystemClock(), slot=SlotSettings(lease_s=600), cluster=ClusterSettings()
    )  # type: ignore[arg-type]  # the fixture's store is an SqlStore
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    await plane.enqueue(an_order(priority=3))
    (row,) = await served.application.executions(organisation="desk", limit=1)
    await plane.enqueue(an_order(organisation="desk", execution_id=row.execution_id))
    yield served


async def get(served: Served, path: str, token: str | None = None) -> Any:
    async with served.client(token) as client:
        response = await client.get(path)
        assert response.status_code == 200, response.text
        return response.json()


async def test_nodes_slots_and_orders_are_shown(busy: Served) -> None:
    (node,) = (await get(busy, "/cluster/nodes"))["nodes"]
    (slot,) = (await get(busy, "/cluster/slots"))["slots"]
    listed = await get(busy, "/cluster/orders")

    assert (node["node_id"], node["state"], node["taken"], node["labels"]) == (NODE.node_id, "open", 1, ["gpu"])
    assert slot["taken"] and slot["order_id"] == listed["orders"][0]["order_id"]
    assert [(each["organisation"], each["state"]) for each in listed["orders"]] == [
        ("three-airports", "running"), ("desk", "queued")
    ]  # fmt: skip
    assert listed["waiting"] == 1


async def test_an_order_that_its_submitter_left_is_shown_until_its_execution_is_over(served: Served) -> None:
    slot = SlotSettings(lease_s=600)
    plane = open_control_plane(served.store, NODE, SystemClock(), slot=slot, cluster=ClusterSettings())  # type: ignore[arg-type]
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    await plane.enqueue(an_order(labels=("gpu",)))
    left = an_order(execution_id=ExecutionId.new())
    await plane.enqueue(left)
    await plane.leave()

    async def tell(version: int, kind: str) -> list[str]:
        event = Append(str(left.execution_id), [NewEvent(kind)], version, left.organisation, "/test", left.execution_id)
        await served.store.ledger.append(event)
        rows = await served.application.cluster_orders(limit=9)
        return [str(each.state) for each in rows if each.order_id == left.order_id]

    assert await tell(0, "execution.started") == ["left"]
    assert await tell(1, "execution.finished") == []


async def test_an_execution_tells_which_of_its_orders_wait_and_for_what(busy: Served) -> None:
    (row,) = await busy.application.executions(organisation="desk", limit=1)
    path = f"/executions/{row.execution_id.ulid}"
    assert (await get(busy, path))["queued"] == []  # nobody works on it

    await busy.store.leases.acquire(str(row.execution_id), "somebody", 1e9)  # its clock is set by hand
    (waiting,) = (await get(busy, path))["queued"]
    listed = (await get(busy, "/executions?organisation=desk"))["executions"]
    assert (waiting["place"], waiting["waits_for"], waiting["ahead"]) == ("analyst", "slot", 0)
    assert [each["queued"] for each in listed] == [[waiting]]
    shown = await busy.application.show(row.execution_id)
    assert [str(each.order_id) for each in shown.outcome.queued] == [waiting["order_id"]]


async def test_whoever_is_of_one_organisation_sees_its_orders_only(busy: Served) -> None:
    token = await busy.token("guest")
    (slot,) = (await get(busy, "/cluster/slots", token))["slots"]
    listed = await get(busy, "/cluster/orders", token)

    assert slot["taken"] and slot["order_id"] is None
    assert [each["organisation"] for each in listed["orders"]] == ["desk"]


async def test_an_administrator_closes_and_opens_a_node_and_it_tells_who_did(busy: Served) -> None:
    async with busy.client() as client:
        moved = [(await client.post(f"{PATH}/{move}")).json() for move in ("cordon", "drain", "uncordon")]

    assert [each["state"] for each in moved] == ["cordoned", "draining", "open"]
    assert [each.get("closed_via") for each in moved] == ["api from 127.0.0.1", "api from 127.0.0.1", None]
    assert moved[1]["closed_by"]
    events = await busy.store.ledger.read(NODE.node_id)
    assert [event.type for event in events] == ["node.closed", "node.closed", "node.opened"]
    assert str((events[0].data or {})["by"]["principal"]).startswith("token/")


@pytest.mark.parametrize("person", ["guest", "planner"])
async def test_nobody_of_one_organisation_takes_a_node_from_the_others(busy: Served, person: str) -> None:
    async with busy.client(await busy.token(person)) as client:
        refused = await client.post(f"{PATH}/drain")

    assert (refused.status_code, refused.json()["code"]) == (403, "PERMISSION_REFUSED")
    assert await busy.store.ledger.read(NODE.node_id) == []
    assert (await get(busy, "/cluster/nodes"))["nodes"][0]["state"] == "open"


async def test_a_node_that_is_not_there_is_not_found(served: Served) -> None:
    async with served.client() as client:
        assert (await client.post(f"{PATH}/cordon")).status_code == 404


async def test_a_full_queue_refuses_executions_and_says_when_to_come_again(
    busy: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = busy.application._resources  # type: ignore[attr-defined]
    full = resources.settings.model_copy(update={"cluster": ClusterSettings(queue=1)})
    monkeypatch.setattr(resources, "settings", full)
    async with busy.client() as client:
        refused = await client.post("/executions", json={**GOAL, "organisation": "desk"})

    assert (refused.status_code, refused.json()["code"]) == (429, "QUEUE_FULL")
    assert refused.headers["Retry-After"] == "1"


async def test_the_numbers_are_given_without_a_token_and_tell_nobodys_names(busy: Served) -> None:
    async with httpx.AsyncClient(base_url=busy.url) as anybody:
        response = await anybody.get("/metrics")
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }

    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert found["silicon_cluster_orders", "queued"] == 1
    assert found["silicon_cluster_orders", "running"] == 1
    assert found["silicon_cluster_slots", NODE.node_id.ulid, "taken"] == 1
    assert found["silicon_cluster_nodes", "open"] == 1
    assert found["silicon_leases", "slot"] == 1
    assert found["silicon_cluster_heartbeat_age_seconds", NODE.node_id.ulid] >= 0
    assert found[("silicon_cluster_queue_limit",)] == 100_000
    assert "three-airports" not in response.text and "desk" not in response.text


async def test_corrections_of_models_are_counted_from_the_ledger_whoever_wrote_them(served: Served) -> None:
    execution, order = ExecutionId.new(), OrderId.new()
    told = [NewEvent("model.answered", {"answer": 1, "calls": [], "facts": {"usage_estimated": True}})] * 2
    for stream, events in ((execution, [NewEvent("execution.requested", {"models": {"reason": "m"}})]), (order, told)):
        await served.store.ledger.append(Append(str(stream), events, 0, "desk", "/test", execution_id=execution))

    async with httpx.AsyncClient(base_url=served.url) as anybody:
        numbers = (await anybody.get("/metrics")).text

    assert 'silicon_model_guards_total{guard="usage_estimated",model="m",tool=""} 2.0' in numbers
    assert 'silicon_model_occasions_total{model="m",occasion="answers",tool=""} 2.0' in numbers
    assert "desk" not in numbers


async def test_a_slot_that_is_kept_ready_is_told_and_counted(busy: Served) -> None:
    node = Node(NodeId("node/01JB0000000000000000000WRM"), 2)
    plane = open_control_plane(busy.store, node, SystemClock(), slot=SlotSettings(), cluster=ClusterSettings())  # type: ignore[arg-type]
    await plane.beat(for_all=True, pulled_at=SystemClock().now())
    await plane.warm((1,))

    slots = (await get(busy, "/cluster/slots"))["slots"]
    async with httpx.AsyncClient(base_url=busy.url) as anybody:
        numbers = (await anybody.get("/metrics")).text

    assert [each["warm"] for each in slots if each["node_id"] == node.node_id] == [False, True]
    assert f'silicon_cluster_warm_slots{{node="{node.node_id.ulid}"}} 1.0' in numbers


async def test_numbers_that_cannot_be_read_are_no_numbers(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.errors import LedgerUnavailable

    async def away() -> None:
        raise LedgerUnavailable("away")

    monkeypatch.setattr(served.application, "cluster_numbers", away)
    async with httpx.AsyncClient(base_url=served.url) as anybody:
        assert (await anybody.get("/metrics")).status_code == 503


def test_the_page_about_the_cluster_names_every_number() -> None:
    from datetime import UTC, datetime

    from console.api.metrics import gauges_of
    from console.views_cluster import ClusterNumbers

    page = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text(encoding="utf-8")
    empty = ClusterNumbers(datetime.now(UTC), (), {}, 0, 0.0, {})

    assert [gauge.name for gauge in gauges_of(empty) if f"`silicon_{gauge.name}`" not in page] == []
