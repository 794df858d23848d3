"""Values of one metric over time, whole and in slices; a period without a value stays one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Point:
    """One period."""

    period: str
    """Local time: `2013-02-08` or `2013-02-08T17:00`."""
    value: float | None
    """Absent where there is none, which is no zero."""
    n: int
    """Rows it rests on."""
    over: bool = True
    """Whether the period had ended."""
    season: int = 0
    """Weekday or hour: what it is like others in."""


Slices: TypeAlias = Mapping[str, Sequence[Point]]
"""Value of a dimension → its periods, the same ones in the same order for each."""

_AS_EXACT = 1e-6
"""Relative difference up to which the parts make up the whole."""


def valued(points: Sequence[Point]) -> list[Point]:
    """Return the periods that have a value."""
    return [point for point in points if point.value is not None]


def composition(whole: Point, parts: Sequence[Point]) -> str | None:
    """Return how the parts make up the whole: `mean` (weighted by rows), `sum`, or None where they do neither."""
    told = [(part.value, part.n) for part in parts if part.value is not None]
    rows = sum(n for _, n in told)
    if whole.value is None or not told:
        return None
    if rows == whole.n and rows and _same(sum(v * n for v, n in told) / rows, whole.value):
        return "mean"
    return "sum" if _same(sum(v for v, _ in told), whole.value) else None


def without(whole: Point, parts: Sequence[Point], how: str) -> Point:
    """Return what is left of the whole without some of its parts, in one period."""
    told = [(part.value, part.n) for part in parts if part.value is not None]
    rows = whole.n - sum(n for _, n in told)
    if whole.value is None:
        return Point(whole.period, None, 0, whole.over, whole.season)
    if how == "sum":
        return Point(whole.period, whole.value - sum(v for v, _ in told), rows, whole.over, whole.season)
    value = (whole.value * whole.n - sum(v * n for v, n in told)) / rows if rows > 0 else None
    return Point(whole.period, value, max(rows, 0), whole.over, whole.season)


def is_share(points: Sequence[Point]) -> bool:
    """Whether the values are shares of their rows: between 0 and 1, and a whole number of rows each."""
    told = [(p.value, p.n) for p in points if p.value is not None]
    return bool(told) and all(
        n > 0 and 0 <= v <= 1 and isclose(v * n, round(v * n), abs_tol=1e-6 * max(n, 1)) for v, n in told
    )


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=_AS_EXACT, abs_tol=_AS_EXACT * 1e-3)
