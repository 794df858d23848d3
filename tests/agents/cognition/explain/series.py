"""Series of a metric for tests: noise that is the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from agents.cognition.explain import Point

FIRST = date(2013, 1, 1)


def points(values: Sequence[float | None], rows: int | Sequence[int] = 1_000) -> list[Point]:
    """Return one period a day, from the first of January 2013 on."""
    counts = [rows] * len(values) if isinstance(rows, int) else rows
    days = [FIRST + timedelta(days=number) for number in range(len(values))]
    return [
        Point(str(day), value, 0 if value is None else n, season=day.weekday())
        for day, value, n in zip(days, values, counts, strict=True)
    ]


def noise(count: int, around: float = 100.0, spread: float = 5.0, seed: int = 7) -> list[float]:
    """Return noise around a level."""
    return [float(each) for each in np.random.default_rng(seed).normal(around, spread, count)]


def whole_of(slices: dict[str, list[Point]]) -> list[Point]:
    """Return the weighted mean of slices, period by period."""
    found = []
    for parts in zip(*slices.values(), strict=True):
        told = [part for part in parts if part.value is not None]
        rows = sum(part.n for part in told)
        value = sum((part.value or 0.0) * part.n for part in told) / rows if rows else None
        found.append(Point(parts[0].period, value, rows, parts[0].over, parts[0].season))
    return found
