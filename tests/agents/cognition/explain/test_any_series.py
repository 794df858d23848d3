"""Whatever the series: an answer that adds up, and no crash."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.cognition.explain import Compare, Point, Question, State, Verdict, explain
from contracts import Confidence
from tests.agents.cognition.explain.series import points, whole_of

VALUES = st.one_of(
    st.none(),
    st.floats(-1e9, 1e9, allow_nan=False),
    st.sampled_from([0.0, 1.0, 1e-12, -1.0]),
)
SERIES = st.lists(VALUES, min_size=1, max_size=70)


def slices(rows: list[tuple[float | None, float | None, int, int]]) -> dict[str, list[Point]]:
    return {
        "a": points([row[0] for row in rows], [max(row[2], 1) for row in rows]),
        "b": points([row[1] for row in rows], [max(row[3], 1) for row in rows]),
    }


@settings(max_examples=60, deadline=None)
@given(SERIES, SERIES, st.sampled_from(list(Compare)), st.integers(0, 5))
def test_every_series_has_an_answer(
    values: list[float | None], other: list[float | None], compare: Compare, lags: int
) -> None:
    beside = (other * 70)[: len(values)]
    found = explain(
        Question(points(values), "minutes", {}, {"other": points(beside)}, compare, season_lag=7, most_lag=lags)
    )

    if values[-1] is None:
        assert found.verdict is Verdict.NO_VALUE
    if sum(value is not None for value in values[:-1]) < 14:
        assert found.verdict in (Verdict.NO_VALUE, Verdict.INCONCLUSIVE)
    if found.verdict in (Verdict.NO_VALUE, Verdict.INCONCLUSIVE, Verdict.BROAD):
        assert found.confidence is Confidence.LOW
    for each in found.measured():
        assert (each.state is State.INCONCLUSIVE) == (each.why is not None)
        assert each.p is None or 0 <= each.p <= 1


CELLS = st.tuples(VALUES, VALUES, st.integers(1, 500), st.integers(1, 500))


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=2, max_size=40))
def test_parts_of_a_mean_always_add_up_to_its_change(rows: list[tuple[float | None, float | None, int, int]]) -> None:
    cut = slices(rows)
    [split] = explain(Question(whole_of(cut), "minutes", {"desk": cut})).splits

    if split.state is State.FOUND and split.how == "mean" and split.before is not None and split.now is not None:
        told = sum(part.contribution for part in split.parts)
        largest = max(abs(value) for row in rows for value in row[:2] if value is not None)
        assert abs(told - (split.now - split.before)) <= 1e-9 * max(largest, 1e-9)
