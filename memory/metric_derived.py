"""Metrics made of other metrics: a ratio of two, and the last buckets of one taken together.

Nothing here turns a gap into a number: what is made of a value that has not arrived has not arrived, and what is made
of a missing one is missing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from contracts import Combination, Grain, WindowOf
from memory.metric_values import MetricValue, Moment, Slice, ValueState

COMBINE: Mapping[Combination, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "sum": sum,
    "min": min,
    "max": max,
    "median": statistics.median,
}
"""How the buckets of a window are taken together; each counts alike, however many rows it rests on."""

_At = tuple[datetime, Slice]


def ratio_of(
    above: Sequence[MetricValue], below: Sequence[MetricValue], grain: Grain, moment: Moment
) -> list[MetricValue]:
    """Return one metric divided by another, by bucket and slice; nothing where the lower one is zero or not there.

    `n` is that of the lower metric.
    """
    uppers, lowers = _by_place(above), _by_place(below)
    found = []
    for start, slice_ in dict.fromkeys([*uppers, *lowers]):
        upper, lower = uppers.get((start, slice_)), lowers.get((start, slice_))
        parts = [part for part in (upper, lower) if part is not None]
        value = None
        if upper is not None and lower is not None and upper.value is not None and lower.value:
            value = _finite(upper.value / lower.value)
        found.append(_made_of(parts, moment.value_of(start, grain, slice_, value, lower.n if lower else 0)))
    return sorted(found, key=lambda each: each.start)


def window_of(
    window: WindowOf, values: Sequence[MetricValue], grain: Grain, moment: Moment, *, first: datetime
) -> list[MetricValue]:
    """Return, for each bucket from `first` on, the last buckets up to it taken together, slice by slice.

    Fewer buckets with a value than the window asks for give nothing. `n` is the sum over those buckets.
    """
    slices: dict[Slice, list[MetricValue]] = {}
    for value in values:
        slices.setdefault(value.slice, []).append(value)
    found = []
    for slice_, of_slice in slices.items():
        for place, last in enumerate(of_slice):
            if last.start < first:
                continue
            parts = of_slice[max(0, place - window.last + 1) : place + 1]
            there = [part.value for part in parts if part.value is not None]
            enough = len(there) >= (window.at_least or window.last)
            together = _together(window.combine, there) if enough else None
            n = sum(part.n for part in parts)
            found.append(_made_of(parts, moment.value_of(last.start, grain, slice_, together, n)))
    return sorted(found, key=lambda each: each.start)


def _together(combine: Combination, values: Sequence[float]) -> float | None:
    try:
        return _finite(COMBINE[combine](values))
    except OverflowError:
        return None


def _finite(value: float) -> float | None:
    """Return a number, or nothing for one that is too large to be one: an infinity is no value."""
    return value if math.isfinite(value) else None


def _made_of(parts: Sequence[MetricValue], made: MetricValue) -> MetricValue:
    """Return the value as far as its parts let it be one."""
    waits = any(part.state is ValueState.NOT_YET_ARRIVED for part in parts)
    complete = made.complete and all(part.complete for part in parts)
    if made.value is not None and not waits:
        state = ValueState.VALUE
    else:
        state = ValueState.NOT_YET_ARRIVED if waits or not complete else ValueState.MISSING
    value = made.value if state is ValueState.VALUE else None
    return MetricValue(made.bucket, made.start, value, made.n, state, complete, made.dimensions)


def _by_place(values: Sequence[MetricValue]) -> dict[_At, MetricValue]:
    return {(value.start, value.slice): value for value in values}
