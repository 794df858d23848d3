"""The metrics of an organisation: one definition each, read as of a moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from contracts import Grain, Json, MetricDefinition, Sha256
from memory import buckets
from memory.metric_sql import Query, reading
from runtime.canonical import clean, sha256
from runtime.errors import CapabilityFailed, InvalidArguments, NotFound

RunQuery: TypeAlias = Callable[[str, str, dict[str, Json], datetime], Awaitable[Sequence[Mapping[str, Any]]]]
"""Connection, SQL with `$name` parameters, their values, and the moment as of which data may be seen → rows."""

Slice: TypeAlias = tuple[tuple[str, Json], ...]
"""Dimension and value of one slice, in the order asked for; empty for the whole."""


class ValueState(StrEnum):
    """Missing, zero and not yet known are three different things; a zero is a value."""

    VALUE = "value"
    MISSING = "missing"
    """The bucket has begun and has no rows, or the aggregate is null (nothing to divide by)."""
    NOT_YET_KNOWN = "not_yet_known"
    """The bucket begins after the moment of the reading."""


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
    """Whether the bucket had ended at the moment of the reading; a running one may still change."""
    dimensions: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """Values with the query that gave them."""

    values: list[MetricValue]
    query: Query
    version: Sha256
    """Hash of the definition."""


class MetricRegistry:
    """Every metric of one organisation, by name."""

    def __init__(self, definitions: Iterable[MetricDefinition], query: RunQuery, *, time_zone: str = "UTC") -> None:
        self._definitions = {metric.name: metric for metric in definitions}
        self._query = query
        self._zone = ZoneInfo(time_zone)

    @property
    def zone(self) -> ZoneInfo:
        """The organisation's time zone, in which buckets are cut."""
        return self._zone

    def names(self) -> list[str]:
        """Return the names of all metrics, sorted."""
        return sorted(self._definitions)

    def get(self, name: str) -> MetricDefinition:
        """Return the definition; raise NotFound with the nearest names when there is none."""
        try:
            return self._definitions[name]
        except KeyError:
            near = get_close_matches(name, self._definitions, n=3)
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There is: {', '.join(self.names()) or 'none'}."
            raise NotFound(f"There is no metric {name}. {hint}", name=name) from None

    def version(self, name: str) -> Sha256:
        """Return the hash of the definition: another formula is another version."""
        return sha256(self.get(name).to_json())

    async def value(
        self,
        name: str,
        grain: Grain | str,
        *,
        at: datetime,
        bucket: str | None = None,
        where: Mapping[str, Json] | None = None,
        by: Sequence[str] = (),
    ) -> list[MetricValue]:
        """Return the metric in one bucket, as known at `at`: one value, or one for each slice that has rows.

        Without `bucket` it is the one in which `at` lies.
        """
        of = self._grain(name, grain)
        start = buckets.from_text(bucket, of) if bucket else self._begun(at, of)
        read = await self.read(name, of, at=at, start=start, end=buckets.next_start(start, of), where=where, by=by)
        return read.values

    async def history(
        self,
        name: str,
        grain: Grain | str,
        *,
        at: datetime,
        last: int,
        where: Mapping[str, Json] | None = None,
        by: Sequence[str] = (),
    ) -> list[MetricValue]:
        """Return the last buckets up to the one in which `at` lies, oldest first, gaps shown as missing."""
        of = self._grain(name, grain)
        now = self._begun(at, of)
        start, end = buckets.back(now, of, max(1, last) - 1), buckets.next_start(now, of)
        return (await self.read(name, of, at=at, start=start, end=end, where=where, by=by)).values

    def _begun(self, at: datetime, grain: Grain) -> datetime:
        """Return the start of the bucket in which a moment lies."""
        fault = buckets.year_fault(at)
        if fault is not None:
            raise InvalidArguments(f"Nothing can be read as of {at.isoformat()}: {fault}.", at=at.isoformat())
        return buckets.bucket_start(buckets.to_local(at, self._zone), grain)

    async def read(
        self,
        name: str,
        grain: Grain | str,
        *,
        at: datetime,
        start: datetime,
        end: datetime,
        where: Mapping[str, Json] | None = None,
        by: Sequence[str] = (),
    ) -> Reading:
        """Return every bucket that starts in [start, end) on the local wall clock, as known at `at`, oldest first.

        With `by`, each slice with rows anywhere in that span has a value for every bucket of it.

        Raises:
            NotFound: there is no such metric.
            InvalidArguments: the metric does not have that grain or dimension.
        """
        metric, of = self.get(name), self._grain(name, grain)
        query = reading(metric, of, start=start, end=end, where=where or {}, by=by)
        rows = await self._query(metric.source, query.sql, query.parameters, at)
        found: dict[tuple[datetime, Slice], tuple[float | None, int]] = {}
        slices: dict[Slice, None] = {} if by else {(): None}
        for row in rows:
            slice_: Slice = tuple((dimension, clean(row[f"d{index}"])) for index, dimension in enumerate(by))
            slices[slice_] = None
            found[_moment(row["bucket"], metric), slice_] = (_number(row["value"], metric), _count(row["n"]))
        now = buckets.to_local(at, self._zone)
        values = [
            self._value(begin, of, slice_, found.get((begin, slice_), (None, 0)), now)
            for begin in buckets.buckets(start, end, of, self._zone)
            for slice_ in slices
        ]
        return Reading(values, query, self.version(name))

    def _value(
        self, start: datetime, grain: Grain, slice_: Slice, read: tuple[float | None, int], now: datetime
    ) -> MetricValue:
        value, n = read
        if start > now:
            state, value, n = ValueState.NOT_YET_KNOWN, None, 0
        else:
            state = ValueState.MISSING if value is None else ValueState.VALUE
        return MetricValue(
            bucket=buckets.to_text(start, grain),
            start=start,
            value=value,
            n=n,
            state=state,
            complete=buckets.next_start(start, grain) <= now,
            dimensions=dict(slice_),
        )

    def _grain(self, name: str, grain: Grain | str) -> Grain:
        metric = self.get(name)
        if grain in metric.grains:
            return Grain(grain)
        offered = ", ".join(metric.grains)
        raise InvalidArguments(f"The metric {name} cannot be read by {grain}; it has: {offered}.", grain=str(grain))


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
    except (TypeError, ValueError):
        raise CapabilityFailed(f"The metric {metric.name} gives {value!r}, which is no number.") from None
    return number if isinstance(number, float) else None


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
