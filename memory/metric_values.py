"""A metric's value in one bucket: a number, nothing, or nothing yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias
from zoneinfo import ZoneInfo

from contracts import Grain, Json, Sha256
from memory import buckets
from memory.metric_sql import Query

Slice: TypeAlias = tuple[tuple[str, Json], ...]
"""Dimension and value of one slice, in the order asked for; empty for the whole."""


class ValueState(StrEnum):
    """Missing, zero and not yet arrived are three different things; a zero is a value."""

    VALUE = "value"
    MISSING = "missing"
    """The bucket is over, its data was due, and there is none, or nothing to divide by."""
    NOT_YET_ARRIVED = "not_yet_arrived"
    """There is no value, and it may still come: the bucket begins later, runs, or its data is not due yet."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric in one bucket and one slice."""

    bucket: str
    """Local time of the organisation: `2013-02-08` or `2013-02-08T17:00`."""
    start: datetime
    """Start of the bucket, local wall-clock time."""
    value: float | None
    """Absent unless the state is `value`."""
    n: int
    """How many rows it rests on; 0 where there are none."""
    state: ValueState
    complete: bool
    """Whether the bucket had ended and its data was due at the moment of the reading; before, it may still change."""
    dimensions: Mapping[str, Json] = field(default_factory=dict)

    @property
    def slice(self) -> Slice:
        """The slice it is of."""
        return tuple(self.dimensions.items())


@dataclass(frozen=True, slots=True)
class Reading:
    """Values with the query that gave them."""

    values: list[MetricValue]
    query: Query
    version: Sha256
    """Hash of the definition."""


@dataclass(frozen=True, slots=True)
class Moment:
    """As of when is read, and from when on a bucket counts as whole."""

    at: datetime
    """Aware."""
    zone: ZoneInfo
    freshness: timedelta = timedelta(0)
    """How long after a bucket's end its data may be under way."""

    def value_of(self, start: datetime, grain: Grain, slice_: Slice, value: float | None, n: int) -> MetricValue:
        """Return what was read of one bucket, with its state; a bucket that begins later has nothing yet."""
        begun = buckets.to_utc(start, self.zone) <= self.at
        complete = buckets.to_utc(buckets.next_start(start, grain), self.zone) + self.freshness <= self.at
        if not begun:
            value, n = None, 0
        if value is not None:
            state = ValueState.VALUE
        else:
            state = ValueState.MISSING if complete else ValueState.NOT_YET_ARRIVED
        return MetricValue(buckets.to_text(start, grain), start, value, n, state, complete, dict(slice_))
