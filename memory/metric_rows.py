"""The rows that a reading gave, as values by bucket and slice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from contracts import Json, MetricDefinition
from memory.metric_python import RunScript, values_by
from memory.metric_values import Slice
from runtime.canonical import clean, to_text
from runtime.errors import CapabilityFailed

Found: TypeAlias = dict[tuple[datetime, Slice], tuple[float | None, int]]
"""Start of a bucket and slice → value and how many rows it rests on."""


@dataclass(frozen=True, slots=True)
class Row:
    """One bucket of one slice, as the query gave it."""

    start: datetime
    slice: Slice
    value: object
    given: Mapping[str, Json]
    """What the function of a metric by Python is called with."""
    n: int

    @classmethod
    def of(cls, row: Mapping[str, Any], metric: MetricDefinition, by: Sequence[str]) -> Row:
        """Return a row of the metric's query."""
        slice_: Slice = tuple((dimension, _of_slice(row[f"d{index}"])) for index, dimension in enumerate(by))
        given = {name: clean(row[f"a{index}"]) for index, name in enumerate(metric.takes)} if metric.python else {}
        return cls(_moment(row["bucket"], metric), slice_, row.get("value"), given, _count(row["n"], metric))


async def found_in(metric: MetricDefinition, rows: Sequence[Row], run: RunScript) -> Found:
    """Return the values of the rows; a function of the folder is called once for all of them."""
    values: Sequence[object] = [row.value for row in rows]
    if metric.python is not None:
        values = await values_by(metric.python, [row.given for row in rows], run)
    return {(row.start, row.slice): (_number(value, metric), row.n) for row, value in zip(rows, values, strict=True)}


def _moment(value: object, metric: MetricDefinition) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise CapabilityFailed(
            f"The metric {metric.name} has a row whose time is {value!r}; `time` must give a moment."
        )
    return value.replace(tzinfo=None)


def _number(value: object, metric: MetricDefinition) -> float | None:
    """Return the value as a number; null, NaN and infinities are missing."""
    if value is None:
        return None
    try:
        number = clean(float(value))  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond every float is as little a value as an infinity
        return None
    except (TypeError, ValueError):
        raise CapabilityFailed(f"The metric {metric.name} gives {value!r}, which is no number.") from None
    return number if isinstance(number, float) else None


def _count(value: object, metric: MetricDefinition) -> int:
    """Return how many rows; sums of decimals are numbers too, and null counts none."""
    if value is None:
        return 0
    try:
        if isinstance(value, int | float | Decimal):
            return int(value)
    except (OverflowError, ValueError):  # an infinity, or not a number
        pass
    raise CapabilityFailed(f"The metric {metric.name} rests on {value!r} rows; `n` must give a whole number.")


def _of_slice(value: object) -> Json:
    """Return the value of a dimension; a list or an object is its text, for a slice is known by it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # beside null, which is another slice
    cleaned = clean(value)
    return to_text(cleaned) if isinstance(cleaned, dict | list) else cleaned
