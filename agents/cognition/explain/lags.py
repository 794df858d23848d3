"""Correlation with lags: whether another metric goes with this one, now or some periods before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point
from agents.cognition.explain.thresholds import Thresholds
from agents.cognition.reason.exact import floored, holm

METHOD = "Spearman's rank correlation (scipy), with the number of pairs that are worth as much without autocorrelation"

_FIELLER = 1.06
"""Variance of Fisher's z of a rank correlation, times n - 3; Fieller, Hartley and Pearson (1957)."""


def correlations(
    points: Sequence[Point], others: Mapping[str, Sequence[Point]], most_lag: int, thresholds: Thresholds
) -> list[Measured]:
    """Return the correlation with each other metric at each lag, from 0 (at once) to `most_lag` (it came before).

    All lags of all metrics count as tried in Holm's correction. Going together is no proof of causing.
    """
    all_of_them = [
        _at_lag(points, name, other, lag, thresholds) for name, other in others.items() for lag in range(most_lag + 1)
    ]
    tested = [each for each in all_of_them if each.state is not State.INCONCLUSIVE]
    adjusted = dict(zip(map(id, tested), holm([each.p or 1.0 for each in tested], len(tested)), strict=True))
    return [_judged(each, adjusted.get(id(each)), len(tested), thresholds) for each in all_of_them]


def _judged(each: Measured, p: float | None, tried: int, thresholds: Thresholds) -> Measured:
    if p is None or each.effect is None:
        return each
    found = p < thresholds.alpha and abs(each.effect) >= thresholds.correlated
    return replace(each, p_adjusted=p, tried=tried, state=State.FOUND if found else State.NOT_FOUND)


def _at_lag(points: Sequence[Point], name: str, other: Sequence[Point], lag: int, thresholds: Thresholds) -> Measured:
    import numpy as np
    from scipy.stats import norm, spearmanr, t

    led = {point.period: value.value for point, value in zip(points[lag:], other, strict=False)}
    pairs = [(led[p.period], p.value) for p in points if p.value is not None and led.get(p.period) is not None]
    if len(pairs) < thresholds.min_pairs:
        return inconclusive("correlation", name, METHOD, "history_too_short", n=len(pairs), lag=lag)
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return inconclusive("correlation", name, METHOD, "constant", n=len(pairs), lag=lag)
    r = float(spearmanr(x, y).statistic)
    worth = _effective(x, y)
    statistic = abs(r) * ((worth - 2) / max(1 - r * r, 1e-12)) ** 0.5
    half = float(norm.ppf((1 + thresholds.level) / 2)) * (_FIELLER / max(worth - 3, 1.0)) ** 0.5
    z = float(np.arctanh(np.clip(r, -0.999999, 0.999999)))
    return Measured(
        "correlation", name, State.NOT_FOUND, METHOD, r, "rank correlation", float(np.tanh(z - half)),
        float(np.tanh(z + half)), thresholds.level, len(pairs), floored(float(2 * t.sf(statistic, worth - 2))),
        facts={"lag": lag, "effective_n": worth},
    )  # fmt: skip


def _effective(x: Any, y: Any) -> float:
    """Return how many independent pairs these are worth: Bartlett (1935), by the first autocorrelation of the ranks."""
    from scipy.stats import rankdata
    from statsmodels.tsa.stattools import acf

    carried = float(acf(rankdata(x), nlags=1, fft=False)[1] * acf(rankdata(y), nlags=1, fft=False)[1])
    carried = min(max(carried, 0.0), 0.95)
    return max(4.0, len(x) * (1 - carried) / (1 + carried))
