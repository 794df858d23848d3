"""What an explanation says of series whose cause is known, and when it says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.cognition.explain import Explanation, Point, Question, State, Thresholds, Verdict, explain
from agents.cognition.explain.series import composition
from contracts import Confidence
from tests.agents.cognition.explain.series import noise, points, whole_of


def of(values: list[float | None], **changes: object) -> Explanation:
    return explain(Question(points(values), "minutes", **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "why"), [(3, "history_too_short"), (10, "history_too_short"), (100, None)])
def test_too_little_history_is_a_result(count: int, why: str | None) -> None:
    found = of([*noise(count), 400.0])

    assert found.unusual.why == why
    assert (found.verdict is Verdict.INCONCLUSIVE) == (why is not None)
    assert why is None or found.confidence is Confidence.LOW


def test_a_gap_is_never_called_a_drop() -> None:
    found = of([*noise(60), None])

    assert found.verdict is Verdict.NO_VALUE
    assert found.confidence is Confidence.LOW
    assert [change.state for change in found.changes] == [State.INCONCLUSIVE]
    assert [change.effect for change in found.changes] == [None]


def test_a_change_from_a_gap_is_no_change() -> None:
    found = of([*noise(60), None, 100.0])

    assert found.verdict is Verdict.USUAL
    assert found.changes[0].why == "no_value"


def test_a_history_full_of_gaps_judges_nothing() -> None:
    values: list[float | None] = [value if place % 2 else None for place, value in enumerate(noise(80))]

    assert of([*values, 400.0]).unusual.why == "too_many_gaps"


def test_a_constant_series_finds_any_other_value_and_says_that_it_was_constant() -> None:
    assert of([5.0] * 60 + [5.0]).verdict is Verdict.USUAL
    found = of([5.0] * 60 + [6.0])

    assert found.unusual.state is State.FOUND and found.unusual.facts["constant"] is True
    assert found.confidence is Confidence.LOW


def test_rounding_is_no_change_of_a_constant_series() -> None:
    third = 10 / 3
    history = [third * (1 + 1e-15 * (place % 3)) for place in range(60)]
    for now in (third, third * (1 + 4e-15), third * (1 - 4e-15)):
        found = of([*history, now])
        assert (found.verdict, found.unusual.state) == (Verdict.USUAL, State.NOT_FOUND)
        assert not [each for each in found.measured() if each.state is State.FOUND]
    assert of([third] * 60 + [third * (1 + 4e-15)]).verdict is Verdict.USUAL


def test_what_was_there_before_is_not_unusual_though_nearly_all_the_rest_is_one_number() -> None:
    seldom = [0.0] * 50 + [100.0, 0.0, 200.0, 0.0, 0.0, 100.0]
    again, never = of([*seldom, 100.0]), of([*seldom, 300.0])
    assert (again.verdict, again.confidence) == (Verdict.USUAL, Confidence.MEDIUM)
    assert (never.verdict, never.confidence) == (Verdict.BROAD, Confidence.LOW)


def test_a_fall_by_all_that_a_trend_gained_is_not_surely_nothing() -> None:
    risen = [each + 20.0 * place for place, each in enumerate(noise(60))]
    fallen, gone_on = of([*risen, risen[30]]), of(noise(61))
    assert (fallen.verdict, fallen.confidence) == (Verdict.USUAL, Confidence.MEDIUM)
    assert [check.name for check in fallen.checks if not check.passed] == ["step"]
    assert (gone_on.verdict, gone_on.confidence) == (Verdict.USUAL, Confidence.HIGH)


def test_one_outlier_of_the_past_hides_no_outlier_of_today() -> None:
    history = noise(60)
    history[30] = 1_000.0

    assert of([*history, 200.0]).unusual.state is State.FOUND


def test_a_weekend_is_held_against_weekends() -> None:
    week = [100.0 + step for step in noise(70, 0.0, 2.0)]
    values = [value - (60 if place % 7 in (4, 5) else 0) for place, value in enumerate(week)]

    quiet, low = of([*values[:60]]), of([*values[:60], 40.0])
    assert quiet.verdict is Verdict.USUAL
    assert low.usual is not None and low.usual.seasonal
    assert low.unusual.state is (State.NOT_FOUND if 60 % 7 in (4, 5) else State.FOUND)


def test_noise_is_seldom_unusual() -> None:
    """Chance goes beyond three spreads in a few of a thousand days; the days stand in advance, so that it is a fact."""
    found = [of([*noise(61, seed=seed)]).verdict for seed in range(100)]
    assert sum(verdict not in (Verdict.USUAL, Verdict.INCONCLUSIVE) for verdict in found) <= 2


def slices(last: dict[str, float], weights: dict[str, int] | None = None) -> dict[str, list[Point]]:
    rows = {"a": 400, "b": 400, "c": 200}
    found = {}
    for seed, name in enumerate(rows):
        values = [*noise(60, seed=seed), last[name]]
        found[name] = points(values, [rows[name]] * 60 + [(weights or rows)[name]])
    return found


def explained(cut: dict[str, list[Point]], **more: object) -> Explanation:
    return explain(Question(whole_of(cut), "minutes", {"desk": cut}, **more))  # type: ignore[arg-type]


def test_one_slice_that_stands_out_is_the_cause_when_the_rest_is_as_usual() -> None:
    found = explained(slices({"a": 100.0, "b": 100.0, "c": 300.0}))

    assert (found.verdict, found.dimension, [part.value for part in found.causes]) == (Verdict.SLICE, "desk", ["c"])
    assert found.confidence is Confidence.HIGH
    assert found.rest is not None and found.rest.state is State.NOT_FOUND


def test_what_befalls_all_slices_is_the_fault_of_none() -> None:
    found = explained(slices({"a": 200.0, "b": 210.0, "c": 230.0}))

    assert (found.verdict, found.causes, found.confidence) == (Verdict.BROAD, (), Confidence.LOW)


def test_contributions_add_up_to_the_change() -> None:
    cut = slices({"a": 120.0, "b": 95.0, "c": 180.0}, {"a": 100, "b": 600, "c": 300})
    [split] = explained(cut).splits

    assert split.now is not None and split.before is not None
    assert sum(part.contribution for part in split.parts) == pytest.approx(split.now - split.before)


def test_simpsons_paradox_is_named_as_the_mix() -> None:
    rows = {"short": 900, "long": 100}
    cut = {
        "short": points([*noise(60, 10.0, 0.5, 1), 9.0], [rows["short"]] * 60 + [100]),
        "long": points([*noise(60, 50.0, 0.5, 2), 48.0], [rows["long"]] * 60 + [900]),
    }
    found = explain(Question(whole_of(cut), "minutes", {"route": cut}))

    assert found.splits[0].reversed
    assert (found.verdict, found.dimension) == (Verdict.MIX, "route")


def test_parts_that_do_not_make_up_the_whole_are_not_split() -> None:
    cut = slices({"a": 100.0, "b": 100.0, "c": 300.0})
    found = explain(Question(points([*noise(60), 300.0]), "miles", {"desk": cut}))

    assert (found.splits[0].state, found.splits[0].why) == (State.INCONCLUSIVE, "parts_do_not_make_up_the_whole")
    assert composition(Point("x", 5.0, 2), [Point("x", 2.0, 1), Point("x", 3.0, 1)]) == "sum"


def test_a_count_of_a_running_period_is_not_held_against_whole_ones() -> None:
    whole = points([*noise(60), 20.0])
    running = [*whole[:-1], replace(whole[-1], over=False)]

    assert explain(Question(running, "flights")).unusual.why == "not_over"


def test_a_metric_that_leads_by_a_day_is_found_at_that_lag() -> None:
    rain = [*noise(60, 0.0, 1.0, 3), 9.0, 0.0]
    delay = [100.0, *(100.0 + 10.0 * rain[place - 1] for place in range(1, 62))]
    found = of(list(delay), drivers={"rain": points(rain)})

    assert found.verdict is Verdict.DRIVER and found.driver is not None
    assert (found.driver.about, found.driver.facts["lag"], found.driver.state) == ("rain", 1, State.FOUND)
    assert {each.tried for each in found.correlations} == {3}


def test_a_metric_that_only_drifts_along_is_worth_few_pairs() -> None:
    drift, other = (list(map(float, range(61))), [float(place * 2 + place % 3) for place in range(61)])
    found = of([*drift], drivers={"other": points(other)})

    assert all(float(str(each.facts["effective_n"])) < 5 for each in found.correlations)


def test_a_shift_of_the_level_is_found_with_its_size_and_day() -> None:
    found = of([*noise(40, 100.0, 3.0, 4), *noise(21, 130.0, 3.0, 5)])
    [shift] = [each for each in found.change_points if each.state is State.FOUND]

    assert shift.about == "2013-02-10"
    assert shift.low is not None and shift.high is not None and shift.low < 30 < shift.high


def test_one_spike_is_no_shift() -> None:
    values = noise(60)
    values[30] = 400.0

    assert not [each for each in of([*values, 100.0]).change_points if each.state is State.FOUND]


def test_the_same_values_give_the_same_answer() -> None:
    cut = slices({"a": 100.0, "b": 100.0, "c": 300.0})

    assert explained(cut) == explained(cut)


def test_every_result_that_says_something_has_effect_n_and_method() -> None:
    rain = points([*noise(60, 0.0, 1.0, 3), 9.0])
    found = explained(slices({"a": 100.0, "b": 100.0, "c": 300.0}), drivers={"rain": rain})

    for each in found.measured():
        assert each.method and (each.why or (each.effect is not None and each.n > 0 and each.p is not None))


def test_a_label_cannot_be_had_for_less_by_other_thresholds() -> None:
    easy, strict = Thresholds(plainly_usual=99.0, unusual=9.0, long_history=1), Thresholds(long_history=100)
    short, odd = points(noise(20)), points([*noise(60), 120.0])
    assert [explain(Question(each, "EUR"), easy).confidence for each in (short, odd)] == [Confidence.MEDIUM] * 2
    assert explain(Question(points(noise(61)), "EUR"), strict).confidence is Confidence.MEDIUM
