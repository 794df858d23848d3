"""Metrics over HTTP: definitions, values, versions, and who may see them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.console.api.conftest import Served

pytestmark = pytest.mark.anyio
METRIC = """\
title: Sales
source: shop
over: facts.sales
time: sold
value: sum(amount)
unit: EUR
grains: [day]
dimensions: {shop: shop}
owner: head
"""
DEPARTMENTS = """\
head:
  id: head
  manages:
    - {id: day, skills: [choose-day]}
    - {id: night}
"""
SENSOR = "metric: sales\ngrain: day\nwhen: value > 100\nclear_when: value < 50\n"


def measure(folder: Path) -> None:
    (folder / "data").mkdir()
    with duckdb.connect(str(folder / "data" / "shop.duckdb")) as database:
        database.execute("CREATE TABLE sales (sold TIMESTAMP, shop TEXT, amount DOUBLE)")
        database.execute("INSERT INTO sales VALUES ('2013-02-01 10:00', 'a', 0), ('2013-02-03 10:00', 'b', 7)")
    (folder / "connections.yaml").write_text("shop: {kind: duckdb, description: Sales., file: data/shop.duckdb}\n")
    (folder / "metrics").mkdir()
    (folder / "metrics" / "sales.yaml").write_text(METRIC)
    (folder / "sensors").mkdir()
    (folder / "sensors" / "much.yaml").write_text(SENSOR)


@pytest.fixture
def shop(served: Served) -> Served:
    measure(served.folder)
    return served


async def test_a_metric_is_listed_shown_read_and_followed(shop: Served) -> None:
    async with shop.client() as client:
        whose = {"organisation": "desk"}
        listed = (await client.get("/metrics", params=whose)).json()["metrics"]
        shown = (await client.get("/metrics/sales", params=whose)).json()
        asked = {**whose, "at": "2013-02-03T12:00:00Z", "last": 3}
        read = await client.get("/metrics/sales/values", params=asked)
        assert read.status_code == 200, read.text
        values = read.json()["values"]
        slices = (await client.get("/metrics/sales/values", params={**asked, "where": "shop=b"})).json()["values"]
        text = (shop.folder / "metrics" / "sales.yaml").read_text()
        (shop.folder / "metrics" / "sales.yaml").write_text(text.replace("sum", "max"))
        versions = (await client.get("/metrics/sales/versions", params=whose)).json()["versions"]

    assert [metric["name"] for metric in listed] == ["sales"]
    assert (shown["sensors"], shown["versions"], shown["definition"]["value"]) == (["much"], 1, "sum(amount)")
    assert [(each["state"], each.get("value")) for each in values] == [
        ("value", 0.0),
        ("missing", None),
        ("value", 7.0),
    ]
    assert [each.get("value") for each in slices] == [None, None, 7.0]
    assert versions[1]["changed"] == [{"field": "value", "before": "sum(amount)", "after": "max(amount)"}]
    assert (versions[1]["recalibrates"], versions[1]["sensors"]) == (True, ["much"])


async def test_what_is_not_there_or_not_meant_is_told(shop: Served) -> None:
    async with shop.client() as client:
        whose = {"organisation": "desk"}
        unknown = await client.get("/metrics/sale", params=whose)
        slices = await client.get("/metrics/sales/values", params={**whose, "where": "shop"})
        nobody = await client.get("/metrics")

    assert unknown.status_code == 404 and "sales" in unknown.json()["detail"]
    assert slices.status_code == 422
    assert nobody.status_code == 422


async def test_whoever_has_another_department_only_does_not_see_a_metric(shop: Served) -> None:
    org = (shop.folder / "org.yaml").read_text()
    org = org.replace("head: {id: head, title: Head, skills: [choose-day]}", DEPARTMENTS)
    guest = "{id: guest, name: Kim, roles: [viewer]}"
    (shop.folder / "org.yaml").write_text(org.replace(guest, "{id: guest, name: Kim, departments: {night: viewer}}"))
    text = (shop.folder / "metrics" / "sales.yaml").read_text()
    (shop.folder / "metrics" / "sales.yaml").write_text(text.replace("owner: head", "owner: day"))
    async with shop.client(await shop.token("guest")) as client:
        listed = (await client.get("/metrics")).json()["metrics"]
        refused = [(await client.get(f"/metrics/sales{what}")).status_code for what in ("", "/values", "/versions")]

    assert (listed, refused) == ([], [404, 404, 404])
