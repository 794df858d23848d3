"""A server sees by itself that a definition changed, records it and lets the sensors begin anew."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from console.beats import beat as beats
from console.beats.beat import Beat
from memory.metric_versions import MetricVersions
from tests.console.beats.desk import make_desk, served
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
METRIC = """\
title: Sales
source: shop
over: facts.sales
time: sold
value: sum(amount)
unit: EUR
grains: [day]
owner: head
"""
SENSOR = "metric: sales\ngrain: day\nwhen: value > 100\n"


def make_shop(folder: Path) -> Path:
    make_desk(folder, much=SENSOR)
    (folder / "data").mkdir()
    with duckdb.connect(str(folder / "data" / "shop.duckdb")) as database:
        database.execute("CREATE TABLE sales (sold TIMESTAMP, amount DOUBLE)")
        database.execute("INSERT INTO sales VALUES ('2026-11-30 06:00', 5), ('2026-12-01 06:00', 500)")
    (folder / "connections.yaml").write_text("shop: {kind: duckdb, description: Sales., file: data/shop.duckdb}\n")
    (folder / "metrics").mkdir()
    (folder / "metrics" / "sales.yaml").write_text(METRIC)
    return folder


async def test_a_server_notes_a_changed_metric_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beats, "READ_S", 0.0)
    clock, shop = HandClock(datetime(2026, 12, 1, 12, tzinfo=UTC)), make_shop(tmp_path / "desk")
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, shop, holder="one")
        await beat.go()
        (shop / "metrics" / "sales.yaml").write_text(METRIC.replace("sum", "max"))
        clock.advance(600)
        await beat.go()

        store = await resources.store()
        organisation = (await resources.organisations()).read(shop)
        versions = await MetricVersions(store.ledger, organisation.name).history("sales")
        events = [event.type for event in await store.ledger.read(f"sensor/{organisation.name}/much")]

    assert [(each.entry.value, each.read_by) for each in versions] == [
        ("defined", "server one"),
        ("changed", "server one"),
    ]
    assert events == ["signal.raised", "sensor.ran", "sensor.recalibrated", "signal.raised", "sensor.ran"]
