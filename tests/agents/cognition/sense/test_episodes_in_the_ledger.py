"""Episodes with a state, and sensors whose metric changed, over a real ledger and an embedded database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.cognition.sense import SensorDefinition, Sensors, request_for
from agents.cognition.sense.baseline import Baseline
from agents.cognition.sense.memory_of import standing_of
from contracts import Grain, Signal, SignalKind
from memory.metrics import MetricRegistry
from runtime.ledger.store import SqlStore
from runtime.settings.groups import SensorSettings
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio
STREAM = "sensor/airports/bad-day"


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2013, 2, day, hour, 30, tzinfo=UTC)


def of(store: SqlStore, duck: Duck, **fields: Any) -> Sensors:
    registry = MetricRegistry([cancel_rate(**fields)], duck.query)
    return Sensors(store, registry, SensorSettings(), "airports")


def bad_day(**fields: Any) -> SensorDefinition:
    values: dict[str, Any] = {"name": "bad-day", "metric": "cancel-rate", "grain": Grain.DAY, "when": "value > 0.3"}
    return SensorDefinition(**{**values, "clear_when": "value < 0.1", **fields})


def fly(duck: Duck, *rates: float, origin: str = "EWR") -> None:
    for day, rate in enumerate(rates, 1):
        cancelled = round(rate * 10)
        duck.fly(f"2013-02-{day:02d} 10:00", origin=origin, flown=10 - cancelled, cancelled=cancelled)


async def days(sensors: Sensors, definition: SensorDefinition, first: int, last: int) -> list[Signal]:
    told = []
    for day in range(first, last + 1):
        told += (await sensors.run(definition, at(day))).signals
    return told


def words(signals: list[Signal]) -> list[tuple[str, str | None]]:
    return [(signal.kind.value, signal.bucket) for signal in signals]


async def test_an_episode_is_told_when_it_begins_and_when_it_is_over(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0, 0.4, 0.2, 0.5, 0.2, 0, 0.2, 0.4)
    told = await days(of(sqlite_store, duck), bad_day(), 2, 9)
    assert words(told) == [("threshold", "2013-02-02"), ("cleared", "2013-02-06"), ("threshold", "2013-02-08")]
    assert told[0].key == told[1].key != told[2].key


async def test_an_episode_outlasts_what_a_sensor_looks_back_on(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, *([0.2] * 9), 0, 0.2)
    told = await days(of(sqlite_store, duck), bad_day(look_back=1), 2, 13)
    assert words(told) == [("threshold", "2013-02-01"), ("cleared", "2013-02-11")]


async def test_what_is_over_raises_no_goal_and_tells_its_slice(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0)
    fly(duck, 0, 0, origin="JFK")
    [begun, over] = await days(of(sqlite_store, duck), bad_day(by=("origin",)), 2, 3)
    assert (begun.dimensions, over.dimensions) == ({"origin": "EWR"}, {"origin": "EWR"})
    assert over.threshold is None
    assert request_for(bad_day(), over, known_at=at(3)) is None


async def test_looking_often_tells_each_turn_once(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0, 0.4)
    sensors = of(sqlite_store, duck)
    told = [signal for day in (2, 2, 3, 3, 4, 4) for signal in (await sensors.run(bad_day(), at(day))).signals]
    assert words(told) == [("threshold", "2013-02-01"), ("cleared", "2013-02-02"), ("threshold", "2013-02-03")]


async def test_a_gap_ends_nothing(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4)
    duck.fly("2013-02-03 10:00", flown=10)
    told = await days(of(sqlite_store, duck), bad_day(), 2, 4)
    assert words(told) == [("threshold", "2013-02-01"), ("no_data", "2013-02-02"), ("cleared", "2013-02-03")]


async def test_late_data_is_no_gap_and_is_judged_when_it_is_due(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0)
    sensors = of(sqlite_store, duck, freshness_s=86_400.0)
    assert words(list((await sensors.run(bad_day(), at(3, 12))).signals)) == []
    fly(duck, 0.4, 0.4)
    assert words(list((await sensors.run(bad_day(), at(3, 13))).signals)) == [("threshold", "2013-02-02")]
    assert words(list((await sensors.run(bad_day(), at(6))).signals)) == [("no_data", "2013-02-04")]


async def test_a_changed_metric_lets_its_sensor_begin_anew(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0.2)
    await days(of(sqlite_store, duck), bad_day(), 2, 3)
    other = of(sqlite_store, duck, where="origin = 'EWR'")
    again = await days(other, bad_day(), 2, 3)

    assert words(again) == [("threshold", "2013-02-01")]
    events = [event for event in await sqlite_store.ledger.read(STREAM) if event.type == "sensor.recalibrated"]
    [data] = [event.data for event in events]
    assert data is not None
    assert (data["metric"], data["forgotten"]) == ("cancel-rate", {"fired": 1, "open": ["all"]})
    assert again[0].key.startswith("bad-day:2013-02-01:all:")


async def test_other_words_about_a_metric_let_its_sensor_go_on(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0.2)
    await days(of(sqlite_store, duck), bad_day(), 2, 3)
    assert await days(of(sqlite_store, duck, title="Cancellations", good="down"), bad_day(), 2, 3) == []


async def test_a_sensor_is_recalibrated_once_for_a_change(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0.2)
    await days(of(sqlite_store, duck), bad_day(), 2, 3)
    other = of(sqlite_store, duck, where="origin = 'EWR'")
    assert [await other.recalibrate(bad_day(), at(3)) for _ in range(2)] == [True, False]
    assert (await standing_of(sqlite_store.ledger, "airports", bad_day())).calibrations == 1


async def test_a_baseline_that_fails_is_told_as_a_failed_sensor(sqlite_store: SqlStore, duck: Duck) -> None:
    fly(duck, 0.4, 0.2)
    run = await of(sqlite_store, duck).run(bad_day(when="value / (n - 10) > 1 || n > value.x"), at(2))
    assert run.problem is not None
    assert [signal.kind for signal in run.signals] == [SignalKind.SENSOR_FAILED]


async def test_too_little_history_is_a_signal_and_what_is_unusual_tells_what_was_expected(
    sqlite_store: SqlStore, duck: Duck
) -> None:
    usual = bad_day(clear_when=None, when="value > high", usual=Baseline(28 * 86_400.0, at_least=0.05))
    fly(duck, *([0.1, 0.2] * 9), 0.2, 0.9)
    sensors = of(sqlite_store, duck)
    early = (await sensors.run(usual, at(5))).signals
    [late] = (await sensors.run(usual, at(21))).signals
    assert {signal.kind for signal in early} == {SignalKind.NOT_ENOUGH_HISTORY}
    assert (late.kind, late.bucket, late.value) == (SignalKind.THRESHOLD, "2013-02-20", 0.9)
    assert late.low is not None and late.expected is not None and late.high is not None
    assert late.low < late.expected == 0.2 < late.high < 0.9
