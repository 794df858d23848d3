"""What is usual: from too little history, constant history, with an outlier, a season and holidays (case N3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.cognition.sense.baseline import Baseline, Expected, Season, expected_at
from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.judge import Standing, judge
from contracts import Grain
from memory.metrics import MetricValue, ValueState
from runtime.settings.groups import SensorSettings

FIRST = datetime(2013, 1, 7)  # a Monday
SETTINGS = SensorSettings()
WEEKLY = Baseline(84 * 86_400.0, Season.WEEK)
FLAT = Baseline(84 * 86_400.0)
WEEK = (100.0, 102.0, 101.0, 103.0, 120.0, 60.0, 40.0)
NOISE = np.random.default_rng(7).normal(0, 2, 1_000)


def of_week(day: int) -> float:
    return WEEK[day % 7] + float(NOISE[day])


def history(days: int, value: Callable[[int], float] = of_week) -> list[tuple[datetime, float]]:
    return [(FIRST + timedelta(days=day), value(day)) for day in range(days)]


def usual(baseline: Baseline, earlier: list[tuple[datetime, float]], day: int | None = None) -> Expected | None:
    start = FIRST + timedelta(days=len(earlier) if day is None else day)
    return expected_at(baseline, Grain.DAY, start, earlier, SETTINGS)


def sure(found: Expected | None) -> Expected:
    assert found is not None
    return found


@pytest.mark.parametrize("baseline", [WEEKLY, FLAT])
@pytest.mark.parametrize(("points", "known"), [(3, False), (10, False), (100, True)])
def test_three_and_ten_points_are_not_enough_and_a_hundred_are(baseline: Baseline, points: int, known: bool) -> None:
    assert (usual(baseline, history(points)) is not None) is known


def test_three_weeks_are_the_least_of_a_weekly_season() -> None:
    assert usual(WEEKLY, history(20)) is None
    assert usual(WEEKLY, history(21)) is not None


def test_a_place_in_the_season_that_was_hardly_seen_is_not_known() -> None:
    no_sundays = [each for each in history(98) if each[0].weekday() != 6 or each[0] < datetime(2013, 2, 1)]
    assert usual(Baseline(56 * 86_400.0, Season.WEEK), no_sundays, 97) is None
    assert usual(Baseline(56 * 86_400.0, Season.WEEK), no_sundays, 96) is not None


@pytest.mark.parametrize("day", range(98, 105))
def test_each_day_of_the_week_is_expected_as_it_was(day: int) -> None:
    found = sure(usual(WEEKLY, history(98), day))
    assert found.expected == pytest.approx(WEEK[day % 7], abs=2)
    assert found.spread == pytest.approx(2, rel=0.4)
    assert found.low < of_week(day) < found.high


def test_a_gap_in_the_history_shifts_no_day_of_the_week() -> None:
    with_gaps = [each for place, each in enumerate(history(98)) if place not in (20, 21, 50, 83, 97)]
    for day in range(98, 105):
        assert sure(usual(WEEKLY, with_gaps, day)).expected == pytest.approx(WEEK[day % 7], abs=2)


@pytest.mark.parametrize("baseline", [WEEKLY, FLAT])
def test_a_constant_series_is_quiet_while_it_stays_and_has_no_division_by_zero(baseline: Baseline) -> None:
    found = sure(usual(baseline, history(100, lambda _: 5.0)))
    assert found.expected == pytest.approx(5)
    assert abs(found.deviation(5.0)) < 3
    assert found.deviation(6.0) > 1_000


@pytest.mark.parametrize("baseline", [WEEKLY, FLAT])
def test_a_constant_series_may_move_by_what_is_never_unusual(baseline: Baseline) -> None:
    wide = Baseline(baseline.history_s, baseline.season, at_least=1.5)
    found = sure(usual(wide, history(100, lambda _: 5.0)))
    assert found.low == pytest.approx(3.5)
    assert found.deviation(6.4) < 3 < found.deviation(6.6)


def test_one_outlier_in_the_history_moves_nothing() -> None:
    spoilt = history(98, lambda day: 5_000.0 if day == 91 else of_week(day))
    clean, found = sure(usual(WEEKLY, history(98), 98)), sure(usual(WEEKLY, spoilt, 98))
    assert found.expected == pytest.approx(clean.expected, abs=2)
    assert found.spread < 2 * clean.spread


def test_one_outlier_in_a_series_that_is_mostly_zero_moves_nothing_much() -> None:
    found = sure(usual(FLAT, history(100, lambda day: 1.0 if day == 50 else 0.0)))
    assert found.expected == 0
    assert 0 < found.high < 0.1


def test_a_holiday_is_unusual_itself_and_leaves_its_weekday_as_it_was() -> None:
    holiday = 91  # a Monday like a Sunday
    series = history(105, lambda day: WEEK[6] if day == holiday else of_week(day))
    assert sure(usual(WEEKLY, series[:holiday])).deviation(WEEK[6]) < -10
    assert sure(usual(WEEKLY, series[:98])).expected == pytest.approx(WEEK[0], abs=2)


def test_a_trend_is_followed() -> None:
    growing = history(98, lambda day: of_week(day) + day)
    assert sure(usual(WEEKLY, growing)).expected == pytest.approx(WEEK[0] + 98, abs=4)


def test_hours_have_a_day_as_their_season() -> None:
    hours = [(FIRST + timedelta(hours=hour), float(hour % 24)) for hour in range(24 * 10)]
    start = FIRST + timedelta(days=10, hours=7)
    found = sure(expected_at(Baseline(10 * 86_400.0, Season.DAY), Grain.HOUR, start, hours, SETTINGS))
    assert found.expected == pytest.approx(7, abs=0.5)


def day(place: int, value: float | None) -> MetricValue:
    start = FIRST + timedelta(days=place)
    state = ValueState.VALUE if value is not None else ValueState.MISSING
    return MetricValue(start.date().isoformat(), start, value, 1, state, True)


def sensor(**fields: object) -> SensorDefinition:
    values: dict[str, object] = {"name": "odd", "metric": "flights", "grain": Grain.DAY, "usual": WEEKLY}
    return SensorDefinition(**{**values, "when": "value < low || value > high", **fields})  # type: ignore[arg-type]


def test_a_sensor_says_not_enough_history_before_it_knows_what_is_usual() -> None:
    judged = judge(sensor(), [day(place, of_week(place)) for place in range(100)])
    standings = [each.standing for each in judged]
    assert standings[:21] == [Standing.NOT_ENOUGH_HISTORY] * 21
    assert Standing.NOT_ENOUGH_HISTORY not in standings[21:]
    assert standings.count(Standing.FIRES) <= 2


def test_a_holiday_that_is_passed_over_is_neither_judged_nor_learnt_from() -> None:
    values = [day(place, 0.0 if place in (70, 77) else of_week(place)) for place in range(90)]
    passed = judge(sensor(pass_over="bucket in ['2013-03-18', '2013-03-25']"), values)
    assert [judged.standing for judged in passed if judged.value.value == 0] == [Standing.PASSED_OVER] * 2
    assert [judged.standing for judged in judge(sensor(), values)][70] is Standing.FIRES


def test_a_gap_is_missing_and_never_low() -> None:
    judged = judge(
        sensor(when="value < low"), [day(place, None if place == 60 else of_week(place)) for place in range(70)]
    )
    assert judged[60].standing is Standing.MISSING
    assert Standing.FIRES not in {each.standing for each in judged[60:]}


def test_what_is_unusual_can_be_told_by_how_far_it_deviates() -> None:
    values = [day(place, of_week(place) + (30 if place == 80 else 0)) for place in range(81)]
    last = judge(sensor(when="deviation > 8", by=()), values)[-1]
    assert last.standing is Standing.FIRES
    assert last.usual is not None and last.usual.expected == pytest.approx(WEEK[80 % 7], abs=3)


def test_normal_noise_rings_hardly_more_often_than_three_standard_deviations_promise() -> None:
    baseline = Baseline(56 * 86_400.0, Season.WEEK)
    rings = [abs(sure(usual(baseline, history(day), day)).deviation(of_week(day))) > 3 for day in range(56, 300)]
    assert sum(rings) / len(rings) < 0.02


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9), st.sampled_from([0.0, 1.0])), min_size=21, max_size=70),
    st.sampled_from([Season.WEEK, None]),
)
def test_whatever_the_history_what_is_usual_is_a_number_or_not_known(
    values: list[float | None], season: Season | None
) -> None:
    earlier = [(FIRST + timedelta(days=day), value) for day, value in enumerate(values) if value is not None]
    found = usual(Baseline(70 * 86_400.0, season), earlier, len(values))
    if found is not None:
        assert all(map(math.isfinite, (found.low, found.expected, found.high, found.deviation(1e9))))
        assert found.low <= found.expected <= found.high
