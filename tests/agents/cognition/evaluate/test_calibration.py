"""Reliability, Brier score and corrections by numbers that can be worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.evaluate import Judged, Kept, brier, corrections_due, reliability
from agents.cognition.evaluate.calibration import STRONGEST_FIRST
from contracts import CardId, Confidence, Expectation, Grain
from runtime.settings.evaluation import EvaluationSettings

SETTINGS = EvaluationSettings()
NOW = datetime(2013, 2, 9, tzinfo=UTC)
EXPECTED = Expectation(
    metric="cancel-rate", metric_version="a" * 64, unit="share", grain=Grain.DAY, period="2013-02-09", baseline=0.3,
    change=-0.28, low=-0.3, high=-0.2, starts_at=NOW, ends_at=NOW + timedelta(days=1),
)  # fmt: skip


def judged(kept: int, broken: int, label: Confidence = Confidence.HIGH, unsaid: int = 0) -> list[Judged]:
    kinds = [Kept.KEPT] * kept + [Kept.BROKEN] * broken + [Kept.INCONCLUSIVE] * unsaid
    return [
        Judged(CardId.new(), "nothing", "approved", "explain", label, EXPECTED, kind, None, 0.02, 100, -0.28, NOW)
        for kind in kinds
    ]


def test_the_reliability_table_counts_what_could_be_judged() -> None:
    [row] = reliability(judged(15, 5, unsaid=3), SETTINGS)

    assert (row.n, row.kept, row.inconclusive, row.share, row.promised) == (20, 15, 3, 0.75, 0.9)
    assert row.low == pytest.approx(0.5672, abs=1e-3) and row.high == pytest.approx(0.8733, abs=1e-3)


def test_the_brier_score_is_the_mean_square_of_promise_and_outcome() -> None:
    assert brier(judged(3, 1), SETTINGS) == pytest.approx((3 * 0.1**2 + 0.9**2) / 4)
    assert brier(judged(0, 0, unsaid=2), SETTINGS) is None


@pytest.mark.parametrize(
    ("kept", "broken", "to"),
    [(15, 5, Confidence.MEDIUM), (10, 10, Confidence.LOW), (5, 15, Confidence.LOW), (18, 2, None), (5, 5, None)],
)
def test_a_label_falls_to_what_its_outcomes_bear(kept: int, broken: int, to: Confidence | None) -> None:
    found = corrections_due(reliability(judged(kept, broken), SETTINGS), SETTINGS)

    assert [each.to for each in found] == ([to] if to else [])


@given(st.integers(0, 120), st.integers(0, 120), st.sampled_from(STRONGEST_FIRST))
def test_no_correction_ever_strengthens_a_label(kept: int, broken: int, label: Confidence) -> None:
    for each in corrections_due(reliability(judged(kept, broken, label), SETTINGS), SETTINGS):
        assert STRONGEST_FIRST.index(each.to) > STRONGEST_FIRST.index(each.label)
        assert each.n >= SETTINGS.outcomes and each.high < each.promised


def test_only_the_newest_outcomes_count() -> None:
    [row] = reliability([*judged(0, 100), *judged(100, 0)], SETTINGS)

    assert (row.kept, row.n) == (100, 100)


def test_a_judged_promise_comes_back_as_it_was_stored() -> None:
    [one] = judged(1, 0)

    assert Judged.from_json(one.to_json()) == one
