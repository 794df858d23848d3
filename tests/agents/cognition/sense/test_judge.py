"""The judgement over values made by hand: rows, gaps, history and slices."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.sense import SensorDefinition, Standing, episodes, judge
from contracts import Grain, Json
from memory.buckets import to_text
from memory.metrics import MetricValue, ValueState
from runtime.expressions import ExpressionFailed

FIRST = datetime(2013, 2, 8)


def hour(
    place: int, value: float | None, n: int = 20, state: ValueState | None = None, **dimensions: Json
) -> MetricValue:
    start = FIRST + timedelta(hours=place)
    if state is None:
        state = ValueState.MISSING if value is None else ValueState.VALUE
    return MetricValue(to_text(start, Grain.HOUR), start, value, n, state, True, dimensions)


def sensor(**fields: Any) -> SensorDefinition:
    values: dict[str, Any] = {"name": "s", "metric": "cancel-rate", "grain": Grain.HOUR, "when": "value > 0.15"}
    return SensorDefinition(**{**values, **fields})


def standings(definition: SensorDefinition, values: list[MetricValue]) -> str:
    letters = {"not_enough_history": "h", "not_yet_arrived": "u", "passed_over": "-"}
    return "".join(letters.get(j.standing.value, j.standing.value[0]) for j in judge(definition, values))


def series(*rates: float | None) -> list[MetricValue]:
    return [hour(place, rate) for place, rate in enumerate(rates)]


def test_a_bucket_fires_where_the_condition_holds() -> None:
    assert standings(sensor(), series(0.1, 0.2, 0.15, 0.16)) == "qfqf"


def test_a_row_must_be_long_enough_before_it_fires() -> None:
    assert standings(sensor(in_a_row=3), series(0.2, 0.2, 0.2, 0.2, 0.1, 0.2)) == "bbffqb"


def test_buckets_passed_over_neither_break_a_row_nor_count_in_it() -> None:
    values = [hour(0, 0.2), hour(1, 0.2), hour(2, 0.0, n=3), hour(3, 0.9, n=3), hour(4, 0.2)]
    assert standings(sensor(in_a_row=3, pass_over="n < 10"), values) == "bb--f"


def test_an_hour_without_flights_is_passed_over_like_one_with_few() -> None:
    values = [hour(0, 0.2), hour(1, 0.2), hour(2, None, n=0), hour(3, 0.2)]
    assert standings(sensor(in_a_row=3, pass_over="n < 10"), values) == "bb-f"


def test_a_missing_value_is_no_zero_and_breaks_a_row() -> None:
    assert standings(sensor(in_a_row=2), series(0.2, None, 0.2, 0.2)) == "bmbf"
    assert standings(sensor(when="value < 0.05"), series(0.2, None, 0.0)) == "qmf"


def test_a_pass_over_on_the_value_leaves_missing_ones_missing() -> None:
    assert standings(sensor(pass_over="value == 0.0"), series(0.0, None, 0.2)) == "-mf"


def test_what_is_not_yet_arrived_is_not_judged() -> None:
    assert standings(sensor(), [hour(0, 0.2), hour(1, None, 0, ValueState.NOT_YET_ARRIVED)]) == "fu"


def test_without_enough_history_there_is_no_judgement() -> None:
    assert standings(sensor(at_least_history=2), series(0.9, 0.9, 0.9)) == "hhf"
    assert standings(sensor(at_least_history=2), series(0.9, None, 0.9, 0.9)) == "hmhf"


def test_a_condition_on_the_baseline_needs_one_earlier_value() -> None:
    assert standings(sensor(when="value > 2.0 * baseline"), series(0.1, 0.1, 0.3)) == "hqf"


def test_the_baseline_is_the_median_of_the_last_values() -> None:
    judged = judge(sensor(baseline_over=3), series(9, 1, 2, 30, 4))
    assert [j.baseline for j in judged] == [None, 9, 5, 2, 2]


def test_a_constant_series_has_a_baseline_and_does_not_fire() -> None:
    assert set(standings(sensor(when="value > baseline", at_least_history=1), series(*[0.1] * 50))) == {"h", "q"}


def test_each_slice_has_its_own_row() -> None:
    values = [hour(p, 0.2, carrier=c) for p in range(2) for c in ("AA", "MQ")]
    values[1] = hour(0, 0.0, carrier="MQ")
    assert standings(sensor(by=("carrier",), in_a_row=2), values) == "bqfb"


def test_a_condition_that_cannot_be_worked_out_is_an_error_and_no_silence() -> None:
    with pytest.raises(ExpressionFailed):
        judge(sensor(when="dimensions.carrier == 'AA'"), series(0.2))


RATES = st.lists(st.sampled_from([None, 0.0, 0.1, 0.2]), max_size=60)


@given(RATES, st.integers(1, 4))
def test_a_bucket_fires_exactly_at_the_end_of_a_long_enough_row(rates: list[float | None], in_a_row: int) -> None:
    judged = judge(sensor(in_a_row=in_a_row), series(*rates))
    for place, bucket in enumerate(judged):
        row = rates[max(0, place - in_a_row + 1) : place + 1]
        expected = len(row) == in_a_row and all(rate is not None and rate > 0.15 for rate in row)
        assert (bucket.standing is Standing.FIRES) == expected


@given(RATES, st.lists(st.integers(0, 60), max_size=20))
def test_buckets_passed_over_change_nothing_for_the_rest(rates: list[float | None], at: list[int]) -> None:
    definition = sensor(in_a_row=2, pass_over="n < 10")
    plain = series(*rates)
    mixed = list(plain)
    for place in at:
        mixed.insert(min(place, len(mixed)), hour(0, 0.9, n=1))
    kept = [j for j in judge(definition, mixed) if j.standing is not Standing.PASSED_OVER]
    assert [j.standing for j in kept] == [j.standing for j in judge(definition, plain)]


def test_gaps_up_to_the_limit_are_one_episode() -> None:
    firing = [hour(0, 0.2), hour(1, 0.2), hour(14, 0.2), hour(28, 0.2)]
    found = episodes(sensor(merge_gap_s=12 * 3_600), judge(sensor(), firing))
    assert [[bucket.value.bucket[-5:] for bucket in episode.buckets] for episode in found] == [
        ["00:00", "01:00", "14:00"], ["04:00"],
    ]  # fmt: skip


def test_without_a_merge_gap_every_bucket_is_its_own_episode() -> None:
    assert len(episodes(sensor(), judge(sensor(), series(0.2, 0.2, 0.2)))) == 3


def test_a_gap_of_nothing_merges_neighbours_only() -> None:
    assert len(episodes(sensor(merge_gap_s=0), judge(sensor(), series(0.2, 0.2, 0.1, 0.2)))) == 2
