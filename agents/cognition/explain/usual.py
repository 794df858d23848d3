"""What is usual, and whether a value is: the anomaly test, robust against the anomalies of the past."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point, is_share, valued
from agents.cognition.explain.thresholds import Thresholds
from contracts import Json

METHOD = "distance from the median in robust standard deviations, Student's t (scipy)"

_DECILES = 2.563
"""Distance of the 10 % and 90 % quantiles of a normal distribution, in standard deviations."""
_MAD = 1.4826
"""Standard deviations in a median absolute deviation of a normal distribution."""
ROUNDING = 1e-9
"""Part of a number up to which another differs from it by the rounding of sums and means alone."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What earlier periods say of one."""

    n: int
    """Earlier periods with a value."""
    missing: int
    """Those without."""
    value: float
    """Their median, moved to the season of the period that is judged."""
    low: float
    high: float
    """Their quantiles: between them lie as many as the level says."""
    spread: float
    """Robust standard deviation."""
    seasonal: bool
    """Whether weekdays, or hours, differ and were compared with their own kind."""


def usual_of(history: Sequence[Point], season: int, thresholds: Thresholds, *, rows: int | None = None) -> Usual | None:
    """Return what is usual for a period of that season, or None where no earlier period has a value.

    With `rows`, the spread of a share is at least what chance gives a share of so many rows.
    """
    import numpy as np

    told = valued(history)
    if not told:
        return None
    values = np.array([point.value for point in told], dtype=float)
    shifts = _seasonal_shifts(told, thresholds)
    middle = float(np.median(values))
    if shifts is not None:
        values = values - np.array([shifts[point.season] for point in told]) + shifts.get(season, 0.0)
        middle = float(np.median(values))
    tail = (1 - thresholds.level) / 2
    low, first, last, high = np.quantile(values, [tail, 0.1, 0.9, 1 - tail])
    spread = max(float(last - first) / _DECILES, _MAD * float(np.median(np.abs(values - middle))))
    if spread <= ROUNDING * abs(middle):
        spread = 0.0
    if rows and is_share(told):
        rate = min(max(middle, 0.5 / rows), 1 - 0.5 / rows)
        spread = max(spread, (rate * (1 - rate) / rows) ** 0.5)
    return Usual(len(told), len(history) - len(told), middle, float(low), float(high), spread, shifts is not None)


def judge_usual(
    now: Point, history: Sequence[Point], unit: str, thresholds: Thresholds
) -> tuple[Measured, Usual | None]:
    """Return whether the value is unusual, and what is usual.

    The effect is the distance from the usual in the metric's unit; `facts.distance` is the same in robust standard
    deviations. The spread comes from the deciles of the history, so that a tenth of it may be anomalies of old.
    """
    usual = usual_of(history, now.season, thresholds, rows=now.n)
    why = why_not(now, history, usual, thresholds)
    if why is not None or usual is None or now.value is None:
        n = usual.n if usual else 0
        return inconclusive("unusual", now.period, METHOD, why or "no_value", n=n), usual
    distance = now.value - usual.value
    if usual.spread == 0:
        return _against_one_number(now, history, usual, unit, thresholds), usual
    return _tested(now, usual, distance, unit, thresholds), usual


def why_not(now: Point, history: Sequence[Point], usual: Usual | None, thresholds: Thresholds) -> str | None:
    """Return why nothing can be said of a value, or None where it can."""
    if now.value is None:
        return "no_value"
    if usual is None or usual.n < thresholds.min_history:
        return "history_too_short"
    if usual.missing > thresholds.most_missing * len(history):
        return "too_many_gaps"
    return None


def _against_one_number(
    now: Point, history: Sequence[Point], usual: Usual, unit: str, thresholds: Thresholds
) -> Measured:
    """Return whether a value differs from what nearly all earlier periods were, by more than rounding.

    There is no spread to measure by. What was as far to that side in a part of them (`alpha`) is not unusual.
    """
    distance = (now.value or 0.0) - usual.value
    if abs(distance) <= ROUNDING * max(abs(now.value or 0.0), abs(usual.value)):
        distance = 0.0
    alike = [p for p in history if p.value is not None and (not usual.seasonal or p.season == now.season)]
    side = 1.0 if distance > 0 else -1.0
    as_far = sum(side * ((p.value or 0.0) - usual.value) >= abs(distance) for p in alike) / max(len(alike), 1)
    state = State.FOUND if distance != 0 and as_far < thresholds.alpha else State.NOT_FOUND
    facts: dict[str, Json] = {
        "usual": usual.value,
        "distance": 0.0 if distance == 0 else None,
        "constant": True,
        "as_far": as_far,
    }
    return Measured("unusual", now.period, state, METHOD, distance, unit, n=usual.n, facts=facts)


def _tested(now: Point, usual: Usual, distance: float, unit: str, thresholds: Thresholds) -> Measured:
    from scipy.stats import t

    error = usual.spread * (1 + 1 / usual.n) ** 0.5
    half = float(t.ppf((1 + thresholds.level) / 2, usual.n - 1)) * error
    p = float(2 * t.sf(abs(distance) / error, usual.n - 1))
    z = distance / usual.spread
    found = p < thresholds.alpha and abs(z) >= thresholds.unusual
    return Measured(
        "unusual", now.period, State.FOUND if found else State.NOT_FOUND, METHOD, distance, unit,
        distance - half, distance + half, thresholds.level, usual.n, p, p,
        facts={"usual": usual.value, "distance": z, "spread": usual.spread, "seasonal": usual.seasonal},
    )  # fmt: skip


def _seasonal_shifts(told: Sequence[Point], thresholds: Thresholds) -> dict[int, float] | None:
    """Return by how much each season differs, where the Kruskal–Wallis test says that they do."""
    import numpy as np
    from scipy.stats import kruskal

    groups: dict[int, list[float]] = defaultdict(list)
    for point in told:
        groups[point.season].append(point.value or 0.0)
    values = [value for group in groups.values() for value in group]
    few = min(map(len, groups.values())) < thresholds.season_repeats
    if len(groups) < 2 or few or len(set(values)) < 2:
        return None
    if float(kruskal(*groups.values()).pvalue) >= thresholds.season_alpha:
        return None
    middle = float(np.median(values))
    return {season: float(np.median(group)) - middle for season, group in groups.items()}
