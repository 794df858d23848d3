"""What passed between two looks of a sensor is judged by the second one, however long it took to come."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from console.beats.beat import Beat
from tests.console.beats.desk import make_desk, served, watch
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
METRIC = """\
title: Sales
source: shop
over: facts.sales
time: sold
value: sum(amount)
unit: EUR
grains: [hour]
owner: head
"""
SENSOR = "metric: sales\ngrain: hour\nwhen: value > 100\n"
NIGHT = datetime(2026, 11, 30, 23, 5, tzinfo=UTC)  # 00:05 of the shop's 1 December


def make_shop(folder: Path, *, much_at: str, more: str = "") -> Path:
    make_desk(folder, more, much=SENSOR)
    (folder / "data").mkdir()
    with duckdb.connect(str(folder / "data" / "shop.duckdb")) as database:
        database.execute(
            "CREATE TABLE sales AS SELECT range AS sold, CASE WHEN range = CAST(? AS TIMESTAMP) THEN 500.0 ELSE 5.0 END"
            " AS amount FROM range(TIMESTAMP '2026-11-29', TIMESTAMP '2026-12-10', INTERVAL 1 HOUR)",
            [much_at],
        )
    (folder / "connections.yaml").write_text("shop: {kind: duckdb, description: Sales., file: data/shop.duckdb}\n")
    (folder / "metrics").mkdir()
    (folder / "metrics" / "sales.yaml").write_text(METRIC)
    return folder


async def told(home: Path, clock: HandClock) -> list[str]:
    async with served(home, clock) as resources:
        events = await (await resources.store()).ledger.read("sensor/desk/much")
    signals = [event.data["signal"] for event in events if event.type == "signal.raised" and event.data]
    return [f"{signal['kind']} {signal.get('bucket')}" for signal in signals if isinstance(signal, dict)]


@pytest.mark.parametrize("hour", [18, 19, 20, 21, 22])
async def test_a_sensor_that_looks_every_four_hours_misses_no_hour(tmp_path: Path, hour: int) -> None:
    clock, shop = HandClock(NIGHT), make_shop(tmp_path / "desk", much_at=f"2026-12-02 {hour}:00")
    async with served(tmp_path / "home", clock) as resources:
        await watch(Beat(resources, shop), clock, hours=50, step_s=1_800)  # calm so long that it looks every four hours
    assert await told(tmp_path / "home", clock) == [f"threshold 2026-12-02T{hour}:00"]


async def test_what_passed_while_no_server_watched_is_judged_by_the_next(tmp_path: Path) -> None:
    clock, shop = HandClock(NIGHT), make_shop(tmp_path / "desk", much_at="2026-12-02 10:00")
    async with served(tmp_path / "home", clock) as resources:
        await Beat(resources, shop).go()
    clock.advance(3 * 86_400)
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, shop)
        await beat.go()
        await watch(beat, clock, hours=1)
    assert await told(tmp_path / "home", clock) == ["threshold 2026-12-02T10:00"]


async def test_a_look_that_failed_saw_nothing(tmp_path: Path) -> None:
    clock, shop = HandClock(NIGHT), make_shop(tmp_path / "desk", much_at="2026-12-01 03:00")
    async with served(tmp_path / "home", clock) as resources:
        beat = Beat(resources, shop)
        await beat.go()
        (shop / "data" / "shop.duckdb").rename(shop / "away")
        await watch(beat, clock, hours=8)
        (shop / "away").rename(shop / "data" / "shop.duckdb")
        await watch(beat, clock, hours=1)
    assert "threshold 2026-12-01T03:00" in await told(tmp_path / "home", clock)


async def test_a_clock_that_stands_and_is_set_leaves_nothing_to_catch_up_with(tmp_path: Path) -> None:
    stands = "clock: {{stands_at: 2026-12-0{}T20:00}}\n"
    clock, shop = HandClock(NIGHT), make_shop(tmp_path / "desk", much_at="2026-12-02 10:00", more=stands.format(1))
    async with served(tmp_path / "home", clock) as resources:
        await Beat(resources, shop).go()
        org = (shop / "org.yaml").read_text()
        (shop / "org.yaml").write_text(org.replace("2026-12-01T20", "2026-12-03T20"))
        clock.advance(60)
        await Beat(resources, shop).go()
    assert await told(tmp_path / "home", clock) == []
