"""What a number usually is at a place in the season, worked out from its own history by libraries.

With a season: `statsmodels.tsa.seasonal.STL` with robust weights (Cleveland et al., 1990), its seasonal part smoothed
over all cycles and its trend a line, so that one outlier or one holiday in the history moves nothing. Without one: the
median. What is left over is measured by the median absolute deviation (`scipy.stats`); where more than half of the
history is one number, that is zero, and the mean absolute deviation stands in for it (Iglewicz and Hoaglin, 1993: the
modified z-score).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any, TypeAlias

from contracts import Grain
from memory.buckets import next_start
from runtime.settings.groups import SensorSettings

Earlier: TypeAlias = Sequence[tuple[datetime, float]]
"""Starts of earlier buckets, local wall-clock time, with their values; buckets without a value are not there."""

_MEAN_TO_SIGMA = math.sqrt(math.pi / 2)
"""Mean absolute deviation → standard deviation of a normal distribution."""
_NEVER_LESS = 1e-9
"""Least spread, as a part of the number itself: what differs by less is rounding."""
_OF_A_LINE = 2
"""Numbers that a straight line takes from its history."""
_SEEN_BEFORE = 2
"""How often a place in the season must have been seen to know what is usual there."""


class Season(StrEnum):
    """What repeats itself."""

    DAY = "day"
    WEEK = "week"
    YEAR = "year"


PERIODS: Mapping[tuple[Season, Grain], int] = {
    (Season.DAY, Grain.HOUR): 24,
    (Season.WEEK, Grain.HOUR): 168,
    (Season.WEEK, Grain.DAY): 7,
    (Season.YEAR, Grain.WEEK): 52,
    (Season.YEAR, Grain.MONTH): 12,
}
"""Buckets of a season, for each grain that has one."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """How a sensor knows what is usual."""

    history_s: float
    """How far back it looks, in seconds."""
    season: Season | None = None
    deviates: float = 3.0
    """How many standard deviations (robust) `low` and `high` lie from `expected`."""
    at_least: float = 0.0
    """The least distance of `low` and `high` from `expected`, in the unit of the metric: less is never unusual."""

    def buckets(self, grain: Grain) -> int:
        """How many buckets the history spans."""
        a_day = datetime(2001, 1, 1)
        return math.ceil(self.history_s / (next_start(a_day, grain) - a_day).total_seconds())

    def values_needed(self, grain: Grain, settings: SensorSettings) -> int:
        """How many earlier values there must be before anything is usual."""
        if self.season is None:
            return settings.baseline_values
        return settings.baseline_seasons * PERIODS[self.season, grain]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is usual for one bucket."""

    expected: float
    spread: float
    """One standard deviation, in the unit of the metric."""
    low: float
    high: float
    n: int
    """Earlier values it follows from."""

    def deviation(self, value: float) -> float:
        """Return by how many standard deviations a value lies above (or, negative, below) what is expected."""
        return (value - self.expected) / self.spread


def expected_at(
    baseline: Baseline, grain: Grain, start: datetime, earlier: Earlier, settings: SensorSettings
) -> Expected | None:
    """Return what is usual for the bucket that starts then; None where there is not enough history to know it."""
    since = start - timedelta(seconds=baseline.history_s)
    known = [(when, value) for when, value in earlier if since <= when < start]
    if len(known) < baseline.values_needed(grain, settings):
        return None
    if baseline.season is None:
        usual = median(value for _, value in known)
        return _expected(baseline, usual, [value - usual for _, value in known])
    return _seasonal(baseline, PERIODS[baseline.season, grain], grain, start, known)


def _seasonal(baseline: Baseline, period: int, grain: Grain, start: datetime, known: Earlier) -> Expected | None:
    """Return the trend where it ended plus what the season adds at this place."""
    import numpy as np
    from statsmodels.tsa.seasonal import STL

    first = known[0][0]
    place = _steps(first, start, grain)
    places = [_steps(first, when, grain) for when, _ in known]
    same_phase = sum(each % period == place % period for each in places)
    if same_phase < _SEEN_BEFORE or places[-1] < 2 * period:
        return None
    series = np.full(places[-1] + 1, np.nan)
    series[places] = [value for _, value in known]
    there = ~np.isnan(series)
    filled = _filled(series, period)
    cycles = len(filled) // period + 1
    jump, straight = max(1, period // 4), 2 * len(filled) + 1  # the trend is a line over the whole history
    found = STL(
        filled, period=period, seasonal=max(7, 2 * cycles + 1), trend=straight, seasonal_deg=0, robust=True,
        trend_jump=jump, low_pass_jump=jump,
    ).fit()  # fmt: skip
    last = len(filled) - 1 - (len(filled) - 1 - place) % period  # the newest bucket at the same place in the season
    fitted = period + _OF_A_LINE
    usual = float(found.trend[-1] + found.seasonal[last])
    return _expected(baseline, usual, found.resid[there].tolist(), fitted)


def _filled(series: Any, period: int) -> Any:
    """Return the series with each gap filled by what is usual at its place in the season, else by what is usual."""
    import numpy as np

    filled = np.array(series, dtype=float)
    for phase in range(period):
        of_phase = filled[phase::period]  # a view: what is written here is written there
        gaps = np.isnan(of_phase)
        if gaps.any():
            of_phase[gaps] = np.nanmedian(filled if gaps.all() else of_phase)
    return filled


def _expected(baseline: Baseline, usual: float, left_over: Sequence[float], fitted: float = 1.0) -> Expected:
    """Return what is expected with its spread, widened for the `fitted` numbers that were taken from the history.

    What is left over from a fit is smaller than the error of the next value: in squares by (n + k) / (n - k), Akaike's
    final prediction error (1969). Robust weights leave about as much less over again, so that the factor is taken
    whole; a test holds the rate of false alarms on normal noise against it.
    """
    from scipy.stats import median_abs_deviation

    spread = float(median_abs_deviation(left_over, scale="normal"))
    if spread == 0:
        middle = median(left_over)
        spread = _MEAN_TO_SIGMA * sum(abs(each - middle) for each in left_over) / len(left_over)
    n = len(left_over)
    spread *= (n + fitted) / max(n - fitted, 1)
    spread = max(spread, baseline.at_least / baseline.deviates, _NEVER_LESS * max(1.0, abs(usual)))
    reach = baseline.deviates * spread
    return Expected(usual, spread, usual - reach, usual + reach, n)


def _steps(first: datetime, start: datetime, grain: Grain) -> int:
    """Return how many buckets of the wall clock lie between two starts."""
    if grain is Grain.MONTH:
        return (start.year - first.year) * 12 + start.month - first.month
    step = next_start(first, grain) - first
    return round((start - first) / step)
