"""The confidence label: earned by the statistics, never given by wish."""

from __future__ import annotations

from collections.abc import Sequence

from agents.cognition.reason.verdict import ConditionFinding, Confidence, SliceFinding, Thresholds, Verdict


def confidence_of(
    verdict: Verdict,
    *,
    causes: Sequence[SliceFinding],
    also: Sequence[SliceFinding],
    condition: ConditionFinding | None,
    excess: float,
    usual_rate: float,
    slices_short: bool,
    thresholds: Thresholds,
) -> Confidence:
    """Return how well the verdict is supported; where a case is not named as high or low it is medium."""
    if verdict is Verdict.SLICE:
        return _of_slices(causes, thresholds)
    if verdict is Verdict.CONDITION and condition is not None:
        return _of_condition(condition, also, usual_rate, thresholds)
    if verdict is Verdict.NOT_EXPLAINED and condition is not None:
        return _of_nothing_found(condition, also, slices_short, thresholds)
    if verdict is Verdict.NOTHING_UNUSUAL:
        return Confidence.HIGH if excess < thresholds.min_excess / 2 else Confidence.MEDIUM
    return Confidence.LOW


def _of_slices(causes: Sequence[SliceFinding], thresholds: Thresholds) -> Confidence:
    """The weakest of the named slices decides."""
    if any(s.condition_share >= thresholds.condition_share and s.p_adjusted >= thresholds.strong_alpha for s in causes):
        return Confidence.LOW
    strong = all(
        s.p_adjusted < thresholds.strong_alpha
        and s.effect >= thresholds.strong_effect
        and s.condition_share < thresholds.condition_share
        for s in causes
    )
    return Confidence.HIGH if strong else Confidence.MEDIUM


def _of_condition(
    condition: ConditionFinding, also: Sequence[SliceFinding], usual_rate: float, thresholds: Thresholds
) -> Confidence:
    compared = condition.contrast_expected >= thresholds.contrast_min_expected
    contrasted = (
        condition.contrast_odds >= thresholds.contrast_effect and condition.contrast_p < thresholds.strong_alpha
    )
    flooded = condition.hits >= thresholds.flood * usual_rate * condition.n
    if not compared and not flooded:
        return Confidence.LOW
    if condition.share >= thresholds.strong_share and not also and (flooded if not compared else contrasted):
        return Confidence.HIGH
    return Confidence.MEDIUM if contrasted or flooded else Confidence.LOW


def _of_nothing_found(
    condition: ConditionFinding, also: Sequence[SliceFinding], slices_short: bool, thresholds: Thresholds
) -> Confidence:
    """How sure it is that the data do not explain it: low where little was seen, high where all was seen."""
    hits = condition.hits + condition.contrast_hits + condition.unknown_hits
    blind = condition.unknown_hits >= thresholds.unknown_share * hits
    if slices_short or blind:
        return Confidence.LOW
    return Confidence.HIGH if not also and condition.share < thresholds.condition_share / 2 else Confidence.MEDIUM
