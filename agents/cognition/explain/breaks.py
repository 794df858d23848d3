"""Change points: when the level of a metric shifted for longer than a spike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point, valued
from agents.cognition.explain.thresholds import Thresholds
from agents.cognition.reason.exact import holm

METHOD = "PELT on levels (ruptures), permuted CUSUM between its neighbours, Welch's interval (scipy)"
_SEED = 20130208
"""The permutations are the same each time, and so is the answer."""
_MEDIAN_STEP = 2**0.5 / 1.4826
"""Median distance of two neighbours, in standard deviations of normal noise."""
_OFTEN = 0.9
_OFTEN_STEP = 2**0.5 * 1.645
"""Distance of two neighbours that so large a part keeps below, in the same unit."""


def change_points(points: Sequence[Point], unit: str, thresholds: Thresholds) -> list[Measured]:
    """Return the shifts of the level, oldest first; one result that says why where none can be looked for.

    A period without a value is left out, never filled in. The p-value counts that the place was chosen by the data: it
    is the share of shuffles of the two neighbouring levels whose largest CUSUM is as large.
    """
    import numpy as np
    import ruptures

    told = valued(points)
    about = f"{points[0].period}..{points[-1].period}" if points else ""
    if len(told) < thresholds.min_history:
        return [inconclusive("change_point", about, METHOD, "history_too_short", n=len(told))]
    if len(points) - len(told) > thresholds.most_missing * len(points):
        return [inconclusive("change_point", about, METHOD, "too_many_gaps", n=len(told))]
    values = np.array([point.value for point in told], dtype=float)
    noise = _noise(values)
    if noise == 0:
        return [inconclusive("change_point", about, METHOD, "constant", n=len(told))]
    clipped = np.clip((values - np.median(values)) / noise, -thresholds.very_unusual, thresholds.very_unusual)
    search = ruptures.Pelt(model="l2", min_size=thresholds.segment, jump=1).fit(clipped.reshape(-1, 1))
    ends = [0, *search.predict(pen=thresholds.penalty * np.log(len(told)))]
    found = [
        _shift(told, values, clipped, at=(ends[i - 1], ends[i], ends[i + 1]), unit=unit, thresholds=thresholds)
        for i in range(1, len(ends) - 1)
    ]
    return _corrected(found, thresholds)


def _shift(
    told: Sequence[Point], values: Any, clipped: Any, *, at: tuple[int, int, int], unit: str, thresholds: Thresholds
) -> Measured:
    from scipy.stats import ttest_ind

    first, place, last = at
    before, after = values[first:place], values[place:last]
    effect = float(after.mean() - before.mean())
    low = high = None
    if before.std() + after.std() > 0:
        interval = ttest_ind(after, before, equal_var=False).confidence_interval(thresholds.level)
        low, high = float(interval.low), float(interval.high)
    return Measured(
        "change_point", told[place].period, State.NOT_FOUND, METHOD, effect, unit, low, high, thresholds.level,
        last - first, _p(clipped[first:last], thresholds),
        facts={"before": float(before.mean()), "after": float(after.mean()), "n_before": place - first,
               "n_after": last - place, "since": told[first].period, "until": told[last - 1].period},
    )  # fmt: skip


def _p(values: Any, thresholds: Thresholds) -> float:
    """Return the share of shuffles, this order among them, whose largest CUSUM is at least as large."""
    import numpy as np

    shuffled = np.random.default_rng(_SEED).permuted(np.tile(values, (thresholds.shuffles, 1)), axis=1)
    sums = np.abs(np.cumsum(np.vstack([values, shuffled]) - values.mean(), axis=1)).max(axis=1)
    return float((sums >= sums[0] - 1e-12).sum() / len(sums))


def _noise(values: Any) -> float:
    """Return the standard deviation of the noise by the differences of neighbours, which a shift of level spares."""
    import numpy as np

    steps = np.abs(np.diff(values))
    typical = float(np.median(steps)) / _MEDIAN_STEP
    return typical or float(np.quantile(steps, _OFTEN)) / _OFTEN_STEP


def _corrected(found: Sequence[Measured], thresholds: Thresholds) -> list[Measured]:
    adjusted = holm([each.p or 1.0 for each in found], len(found))
    return [
        replace(each, p_adjusted=p, tried=len(found), state=State.FOUND if p < thresholds.alpha else State.NOT_FOUND)
        for each, p in zip(found, adjusted, strict=True)
    ]
