"""Ratios and windows: a gap stays a gap all the way through (case N2)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from contracts import Grain, MetricDefinition, RatioOf, WindowOf
from memory.metric_values import MetricValue, ValueState
from memory.metrics import MetricRegistry
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

NOON = datetime(2013, 2, 8, 12, tzinfo=UTC)
DAYS = {"unit": "share", "owner": "desk", "grains": ("day",)}

CANCELLED = cancel_rate(name="cancelled", value="count(*) FILTER (cancelled)")
FLIGHTS = cancel_rate(name="flights", value="count(*)")
RATE = MetricDefinition(
    name="rate", title="Rate", ratio=RatioOf(of="cancelled", to="flights"), dimensions={"airport": "origin"}, **DAYS
)


def week(**fields: object) -> MetricDefinition:
    window = WindowOf.model_validate({"of": "cancelled", "last": 3, **fields})
    return MetricDefinition(name="week", title="Three days", window=window, dimensions={"airport": "origin"}, **DAYS)


def registry(duck: Duck, *metrics: MetricDefinition) -> MetricRegistry:
    return MetricRegistry([CANCELLED, FLIGHTS, *metrics], duck.query)


def told(values: list[MetricValue]) -> list[tuple[str, float | None, str]]:
    return [(value.bucket[-2:], value.value, value.state.value) for value in values]


async def read(metrics: MetricRegistry, name: str, first: int, last: int, **asked: object) -> list[MetricValue]:
    start, end = datetime(2013, 2, first), datetime(2013, 2, last + 1)
    return (await metrics.read(name, Grain.DAY, at=NOON, start=start, end=end, **asked)).values  # type: ignore[arg-type]


async def test_a_ratio_keeps_zero_missing_and_not_yet_arrived_apart(duck: Duck) -> None:
    duck.fly("2013-02-05 10:00", flown=3, cancelled=1)
    duck.fly("2013-02-06 10:00", flown=4)
    assert told(await read(registry(duck, RATE), "rate", 5, 9)) == [
        ("05", 0.25, "value"),
        ("06", 0.0, "value"),
        ("07", None, "missing"),
        ("08", None, "not_yet_arrived"),
        ("09", None, "not_yet_arrived"),
    ]


async def test_a_ratio_over_zero_is_missing_and_not_zero(duck: Duck) -> None:
    over_cancelled = RATE.model_copy(update={"ratio": RatioOf(of="flights", to="cancelled")})
    duck.fly("2013-02-06 10:00", flown=4)
    [value] = await read(registry(duck, over_cancelled), "rate", 6, 6)
    assert (value.value, value.state, value.n) == (None, ValueState.MISSING, 4)


async def test_a_ratio_over_zero_of_a_day_that_still_runs_has_not_yet_arrived(duck: Duck) -> None:
    over_cancelled = RATE.model_copy(update={"ratio": RatioOf(of="flights", to="cancelled")})
    duck.fly("2013-02-08 10:00", flown=4)
    [value] = await read(registry(duck, over_cancelled), "rate", 8, 8)
    assert value.state is ValueState.NOT_YET_ARRIVED


async def test_slices_of_a_ratio_have_the_names_of_the_ratio(duck: Duck) -> None:
    duck.fly("2013-02-06 10:00", origin="JFK", flown=1, cancelled=1)
    duck.fly("2013-02-06 10:00", origin="EWR", flown=4)
    values = await read(registry(duck, RATE), "rate", 6, 6, by=["airport"])
    assert {(value.dimensions["airport"], value.value) for value in values} == {("JFK", 0.5), ("EWR", 0.0)}
    [jfk] = await read(registry(duck, RATE), "rate", 6, 6, where={"airport": "JFK"})
    assert jfk.value == 0.5


async def test_a_window_with_a_gap_is_missing_and_no_drop(duck: Duck) -> None:
    for day in (3, 4, 5, 7):
        duck.fly(f"2013-02-0{day} 10:00", flown=5, cancelled=2)
    assert told(await read(registry(duck, week()), "week", 5, 8)) == [
        ("05", 2.0, "value"),
        ("06", None, "missing"),
        ("07", None, "missing"),
        ("08", None, "not_yet_arrived"),
    ]


async def test_a_window_that_asks_for_fewer_takes_those_that_are_there(duck: Duck) -> None:
    for day in (3, 4, 5, 7):
        duck.fly(f"2013-02-0{day} 10:00", flown=5, cancelled=day)
    values = await read(registry(duck, week(at_least=2, **{"as": "sum"})), "week", 5, 7)
    assert told(values) == [("05", 12.0, "value"), ("06", 9.0, "value"), ("07", 12.0, "value")]
    assert [value.n for value in values] == [27, 19, 22]


async def test_a_ratio_of_windows_weighs_by_rows(duck: Duck) -> None:
    duck.fly("2013-02-05 10:00", flown=90)
    duck.fly("2013-02-06 10:00", flown=5, cancelled=5)
    parts = [
        MetricDefinition(name=f"two-{name}", title=name, window=WindowOf(of=name, last=2, combine="sum"), **DAYS)
        for name in ("cancelled", "flights")
    ]
    rate = MetricDefinition(name="rate", title="Rate", ratio=RatioOf(of="two-cancelled", to="two-flights"), **DAYS)
    [value] = await read(registry(duck, *parts, rate), "rate", 6, 6)
    assert value.value == 5 / 100


async def test_late_data_has_not_yet_arrived_until_it_is_due(duck: Duck) -> None:
    late = cancel_rate(freshness_s=86_400.0)
    metrics = MetricRegistry([late], duck.query)
    start, end = datetime(2013, 2, 6), datetime(2013, 2, 9)
    states = [
        [value.state.value for value in (await metrics.read("cancel-rate", "day", at=at, start=start, end=end)).values]
        for at in (NOON, datetime(2013, 2, 9, tzinfo=UTC))
    ]
    assert states == [["missing", "not_yet_arrived", "not_yet_arrived"], ["missing", "missing", "not_yet_arrived"]]


async def test_what_is_made_of_late_data_is_as_late(duck: Duck) -> None:
    metrics = MetricRegistry([cancel_rate(name="cancelled", freshness_s=86_400.0), FLIGHTS, RATE], duck.query)
    duck.fly("2013-02-07 10:00", flown=5)
    [value] = await read(metrics, "rate", 7, 7)
    assert (value.state, value.complete) == (ValueState.VALUE, False)
    [gone] = await read(MetricRegistry([cancel_rate(freshness_s=86_400.0)], duck.query), "cancel-rate", 7, 7)
    assert gone.complete is False


@pytest.mark.parametrize(("upper", "lower"), list(product(ValueState, ValueState)))
def test_a_ratio_is_never_surer_than_its_parts(upper: ValueState, lower: ValueState) -> None:
    from zoneinfo import ZoneInfo

    from memory.metric_derived import ratio_of
    from memory.metric_values import Moment

    def part(state: ValueState) -> MetricValue:
        value = 2.0 if state is ValueState.VALUE else None
        whole = state is not ValueState.NOT_YET_ARRIVED
        return MetricValue("2013-02-06", datetime(2013, 2, 6), value, 1, state, whole)

    [made] = ratio_of([part(upper)], [part(lower)], Grain.DAY, Moment(NOON, ZoneInfo("UTC")))
    worst = next(
        state for state in (ValueState.NOT_YET_ARRIVED, ValueState.MISSING, ValueState.VALUE) if state in (upper, lower)
    )
    assert made.state is worst
    assert (made.value is None) == (made.state is not ValueState.VALUE)


def test_a_change_of_a_part_is_a_change_of_what_is_made_of_it(duck: Duck) -> None:
    other = MetricRegistry([cancel_rate(name="cancelled", value="sum(1)"), FLIGHTS, RATE], duck.query)
    assert registry(duck, RATE).version("rate") != other.version("rate")
    assert registry(duck, RATE).formula_version("rate") != other.formula_version("rate")


def test_words_change_the_version_and_not_the_formula(duck: Duck) -> None:
    one, two = registry(duck), MetricRegistry([cancel_rate(name="flights", value="count(*)", title="x")], duck.query)
    assert one.version("flights") != two.version("flights")
    assert one.formula_version("flights") == two.formula_version("flights")


async def test_what_is_too_large_to_be_a_number_is_missing(duck: Duck) -> None:
    duck.fly("2013-02-05 10:00", flown=1)
    duck.fly("2013-02-06 10:00", flown=1)
    huge, tiny = cancel_rate(name="cancelled", value="1e308"), cancel_rate(name="flights", value="1e-308")
    ratio = RATE.model_copy(update={"dimensions": {}})
    windows = [week(last=2, **{"as": combine}).model_copy(update={"name": combine}) for combine in ("sum", "mean")]
    metrics = MetricRegistry([huge, tiny, ratio, *windows], duck.query)
    for name in ("rate", "sum", "mean"):
        assert told(await read(metrics, name, 6, 6)) == [("06", None, "missing")], name


@pytest.mark.parametrize("hour", range(24))
async def test_a_window_over_an_hour_that_was_skipped_is_the_same_however_much_is_read(duck: Duck, hour: int) -> None:
    duck.connection.execute(
        "INSERT INTO flights SELECT range, 'EWR', 'AA', true FROM range(TIMESTAMP '2026-03-26', TIMESTAMP '2026-04-01',"
        " INTERVAL 1 HOUR) WHERE range <> TIMESTAMP '2026-03-29 02:00'"
    )
    window = WindowOf.model_validate({"of": "cancelled", "last": 24, "as": "sum"})
    day = MetricDefinition(name="day", title="A day", window=window, **{**DAYS, "grains": ("hour",)})
    metrics = MetricRegistry([CANCELLED, day], duck.query, time_zone="Europe/Berlin")
    start, at = datetime(2026, 3, 29, hour), datetime(2026, 4, 2, tzinfo=UTC)
    values = (await metrics.read("day", "hour", at=at, start=start, end=datetime(2026, 3, 30, 3))).values
    assert {value.value for value in values} == {24.0}
