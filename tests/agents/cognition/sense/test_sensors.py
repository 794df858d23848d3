"""Sensors on a real store and an embedded database."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.cognition.sense import Raise, SensorDefinition, Sensors, idempotency_key, request_for
from contracts import Grain, SignalKind
from memory.metrics import MetricRegistry
from runtime.errors import InvalidArguments
from runtime.ledger.store import SqlStore
from runtime.settings.groups import SensorSettings
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

NEW_YORK = ZoneInfo("America/New_York")
START = datetime(2013, 1, 1, tzinfo=NEW_YORK)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).astimezone(UTC)


@pytest.fixture
def sensors(sqlite_store: SqlStore, duck: Duck) -> Sensors:
    registry = MetricRegistry([cancel_rate()], duck.query, time_zone="America/New_York")
    return Sensors(sqlite_store, registry, SensorSettings(), "airports")


def daily(**fields: Any) -> SensorDefinition:
    values: dict[str, Any] = {"name": "bad-day", "metric": "cancel-rate", "grain": Grain.DAY, "when": "value > 0.1"}
    return SensorDefinition(**{**values, **fields})


def hourly(**fields: Any) -> SensorDefinition:
    values: dict[str, Any] = {"pass_over": "n < 10", "in_a_row": 3, "merge_gap_s": 43_200.0, "when": "value > 0.15"}
    return daily(**{"name": "bad-hours", "grain": Grain.HOUR, **values, **fields})


async def test_the_running_day_raises_a_signal_with_its_value(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    duck.fly("2013-02-08 10:00", flown=8, cancelled=2)
    run = await sensors.run(daily(), at("2013-02-08T17:00"))
    [signal] = run.signals
    assert (signal.kind, signal.bucket, signal.value) == (SignalKind.THRESHOLD, "2013-02-08", 0.2)
    assert (signal.threshold, signal.key, signal.at) == ("value > 0.1", "bad-day:2013-02-08:all", run.at)


async def test_a_quiet_day_says_nothing_and_leaves_a_mark_that_it_looked(
    sensors: Sensors, duck: Duck, sqlite_store: SqlStore
) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    duck.fly("2013-02-08 10:00", flown=20)
    assert (await sensors.run(daily(), at("2013-02-08T17:00"))).nothing
    [event] = await sqlite_store.ledger.read("sensor/airports/bad-day")
    assert (event.type, event.data and event.data["buckets"]) == ("sensor.ran", 2)
    assert (await sensors.run(daily(), at("2013-02-08T18:00"))).nothing
    assert len(await sqlite_store.ledger.read("sensor/airports/bad-day")) == 1  # one mark is enough


async def test_the_same_period_signals_once_however_often_the_sensor_runs(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    duck.fly("2013-02-08 10:00", flown=8, cancelled=2)
    first = await sensors.run(daily(), at("2013-02-08T17:00"))
    for later in ("2013-02-08T17:10", "2013-02-08T21:00", "2013-02-09T01:00"):
        duck.fly("2013-02-09 00:30", flown=50)
        run = await sensors.run(daily(), at(later))
        assert (run.signals, [merged.known for merged in run.merged]) == ((), [True])
        assert run.merged[0].signal == first.signals[0]


async def test_two_runs_at_once_raise_one_signal(sensors: Sensors, duck: Duck, sqlite_store: SqlStore) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    duck.fly("2013-02-08 10:00", flown=8, cancelled=2)
    runs = await asyncio.gather(*(sensors.run(daily(), at("2013-02-08T17:00")) for _ in range(3)))
    assert sum(len(run.signals) for run in runs) == 1
    events = await sqlite_store.ledger.read("sensor/airports/bad-day")
    assert sum(event.type == "signal.raised" for event in events) == 1


async def test_a_replay_of_many_days_raises_each_bad_day_once(sensors: Sensors, duck: Duck) -> None:
    for day in range(1, 29):
        duck.fly(f"2013-02-{day:02} 10:00", flown=10, cancelled=2 if day in (5, 6, 20) else 1)
    run = await sensors.run(daily(), at("2013-02-28T23:59"), since=at("2013-02-01T00:00"))
    assert [signal.bucket for signal in run.signals] == ["2013-02-05", "2013-02-06", "2013-02-20"]
    again = await sensors.run(daily(), at("2013-02-28T23:59"), since=at("2013-02-01T00:00"))
    assert (again.signals, len(again.merged)) == ((), 3)


async def test_hours_of_one_storm_are_one_signal_though_nights_lie_between(sensors: Sensors, duck: Duck) -> None:
    for day, first, last in ((8, 10, 22), (9, 6, 12)):
        for hour in range(first, last):
            duck.fly(f"2013-02-{day:02} {hour:02}:00", flown=8, cancelled=4)
    run = await sensors.run(hourly(), at("2013-02-10T00:00"), since=at("2013-02-08T00:00"))
    [signal] = run.signals
    assert (signal.bucket, len(run.merged)) == ("2013-02-08T12:00", 9 + 6)


async def test_hour_by_hour_gives_the_same_signals_as_one_replay(sensors: Sensors, duck: Duck) -> None:
    bad = [*range(7, 12), *range(14, 17), *range(40, 48), *range(60, 63)]
    for hour in range(6, 72):
        start = datetime(2013, 2, 8) + timedelta(hours=hour)
        duck.fly(start.isoformat(sep=" "), flown=8, cancelled=4 if hour in bad else 0)
    raised = []
    for hour in range(6, 73):
        run = await sensors.run(hourly(), at("2013-02-08T00:00") + timedelta(hours=hour))
        raised += [signal.key for signal in run.signals if signal.kind is SignalKind.THRESHOLD]
    replay = await sensors.run(hourly(name="other"), at("2013-02-11T00:00"), since=at("2013-02-08T00:00"))
    keys = [signal.key.replace("other", "bad-hours") for signal in replay.signals]
    assert keys == raised
    assert len(keys) == 2


async def test_a_slice_signals_though_the_whole_stays_quiet(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-04-16 10:00", carrier="AA", flown=15, cancelled=10)
    duck.fly("2013-04-16 10:00", carrier="UA", flown=200)
    whole = await sensors.run(daily(), at("2013-04-16T21:00"))
    assert SignalKind.THRESHOLD not in {signal.kind for signal in whole.signals}
    run = await sensors.run(daily(name="slices", by=("carrier",)), at("2013-04-16T21:00"))
    [signal] = [signal for signal in run.signals if signal.kind is SignalKind.THRESHOLD]
    assert (signal.dimensions, signal.key) == ({"carrier": "AA"}, "slices:2013-04-16:carrier=AA")


async def test_a_day_without_rows_is_no_data_and_no_drop(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-08 10:00", flown=20)
    run = await sensors.run(daily(when="value < 0.01"), at("2013-02-08T17:00"))
    assert [(s.kind, s.bucket, s.value) for s in run.signals] == [
        (SignalKind.NO_DATA, "2013-02-07", None), (SignalKind.THRESHOLD, "2013-02-08", 0.0),
    ]  # fmt: skip


async def test_an_empty_source_is_no_data_also_for_slices(sensors: Sensors) -> None:
    run = await sensors.run(daily(by=("carrier",)), at("2013-02-08T17:00"))
    assert [signal.kind for signal in run.signals] == [SignalKind.NO_DATA]


async def test_too_little_history_is_told_as_that(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-07 10:00", flown=1, cancelled=9)
    duck.fly("2013-02-08 10:00", flown=1, cancelled=9)
    run = await sensors.run(daily(at_least_history=10), at("2013-02-08T17:00"))
    assert {signal.kind for signal in run.signals} == {SignalKind.NOT_ENOUGH_HISTORY}


@pytest.mark.parametrize(
    "fields", [{"metric": "nothing"}, {"when": "value >"}, {"when": "valu > 1"}, {"when": "dimensions.x > 1"}]
)
async def test_a_sensor_that_cannot_look_says_so_and_does_not_fail_the_run(
    sensors: Sensors, duck: Duck, fields: dict[str, str]
) -> None:
    duck.fly("2013-02-08 10:00", flown=1)
    run = await sensors.run(daily(**fields), at("2013-02-08T17:00"))
    assert [signal.kind for signal in run.signals] == [SignalKind.SENSOR_FAILED]
    assert run.problem is not None


async def test_a_failure_is_told_again_only_after_the_window(sensors: Sensors) -> None:
    broken = daily(metric="nothing")
    told = [bool((await sensors.run(broken, at(f"2013-02-08T{time}"))).signals) for time in ("17:00", "17:29", "17:31")]
    assert told == [True, False, True]


async def test_a_signal_raises_its_goal_under_a_key_of_its_own(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    duck.fly("2013-02-08 10:00", carrier="AA", cancelled=2)
    goal = Raise("Explain {{ carrier }} on {{ bucket }}", "explain", {"day": "{{ bucket }}", "of": "{{ dimensions }}"})
    definition = daily(by=("carrier",), raises=goal)
    moment = at("2013-02-08T17:00")
    [signal] = (await sensors.run(definition, moment)).signals
    request = request_for(definition, signal, known_at=moment)
    assert request is not None
    assert (request.goal, request.skill) == ("Explain AA on 2013-02-08", "explain")
    assert request.parameters == {"day": "2013-02-08", "of": {"carrier": "AA"}}
    assert request.idempotency_key == idempotency_key(signal) == "sensor:bad-day:2013-02-08:carrier=AA"
    assert (request.requested_by, request.known_at) == ("sensor/bad-day", moment)


async def test_a_sensor_that_only_tells_raises_nothing(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-08 10:00", cancelled=2)
    signals = (await sensors.run(daily(), at("2013-02-08T17:00"))).signals
    assert request_for(daily(), signals[-1], known_at=START) is None


async def test_a_goal_that_names_what_is_not_there_is_refused(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-08 10:00", cancelled=2)
    definition = daily(raises=Raise("Explain {{ carrier }}"))
    [*_, signal] = (await sensors.run(definition, at("2013-02-08T17:00"))).signals
    with pytest.raises(InvalidArguments, match="carrier"):
        request_for(definition, signal, known_at=START)


async def test_a_look_back_joins_the_episode_that_began_after_it(sensors: Sensors, duck: Duck) -> None:
    for day in (7, 8):
        duck.fly(f"2013-02-{day:02} 10:00", flown=5, cancelled=5)
    merging = daily(merge_gap_s=0.0)
    [late] = (await sensors.run(merging, at("2013-02-09T17:00"))).signals[:1]
    assert late.bucket == "2013-02-08"
    run = await sensors.run(merging, at("2013-02-09T17:00"), since=at("2013-02-07T00:00"))
    assert [(merged.signal.key, merged.bucket) for merged in run.merged if not merged.known] == [
        (late.key, "2013-02-07")
    ]


async def test_a_period_that_still_runs_without_rows_is_not_yet_a_lack_of_data(sensors: Sensors, duck: Duck) -> None:
    duck.fly("2013-02-07 10:00", flown=20)
    assert (await sensors.run(daily(), at("2013-02-08T00:30"))).nothing


async def test_an_hourly_sensor_without_enough_history_says_so_once_a_day(
    sensors: Sensors, duck: Duck, sqlite_store: SqlStore
) -> None:
    for hour in range(72):
        duck.fly(f"{datetime(2013, 2, 5) + timedelta(hours=hour):%Y-%m-%d %H:30}", flown=20)
    blind = daily(name="young", grain=Grain.HOUR, at_least_history=1_000)
    runs = [await sensors.run(blind, at("2013-02-05T01:10") + timedelta(hours=hour)) for hour in range(72)]
    kinds = [signal.kind for run in runs for signal in run.signals]
    assert kinds == [SignalKind.NOT_ENOUGH_HISTORY] * 4
    assert len(await sqlite_store.ledger.read("sensor/airports/young")) == 8


async def test_nothing_and_a_text_that_reads_like_it_are_two_slices(sensors: Sensors, duck: Duck) -> None:
    duck.connection.execute("INSERT INTO flights SELECT '2013-02-07 10:00', NULL, 'AA', true FROM range(20)")
    for text in ("None", "null", "a,carrier=AA"):
        duck.fly("2013-02-07 10:00", origin=text, cancelled=20)
    run = await sensors.run(daily(by=("origin",)), at("2013-02-07T17:00"))
    keys = [signal.key for signal in run.signals if signal.kind is SignalKind.THRESHOLD]
    assert len(keys) == 4 == len(set(keys))
