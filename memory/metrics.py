"""The metrics of an organisation: one definition each, read as of a moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from contracts import Formula, Grain, Json, MetricDefinition, Name, Sha256
from memory import buckets
from memory.buckets import bucket_start
from memory.metric_derived import ratio_of, window_of
from memory.metric_python import RunScript
from memory.metric_rows import Row, found_in
from memory.metric_sql import Query, reading
from memory.metric_values import MetricValue, Moment, Reading, Slice, ValueState
from memory.metric_version import formula_version, version_of
from runtime.errors import CapabilityFailed, InvalidArguments, NotFound

__all__ = ["MetricRegistry", "MetricValue", "Reading", "RunQuery", "Slice", "ValueState"]

RunQuery: TypeAlias = Callable[[str, str, dict[str, Json], datetime], Awaitable[Sequence[Mapping[str, Any]]]]
"""Connection, SQL with `$name` parameters, their values, and the moment as of which data may be seen → rows."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one reading is asked for."""

    grain: Grain
    start: datetime
    end: datetime
    where: Mapping[str, Json]
    by: tuple[str, ...]


def _all_duckdb(source: str) -> str:
    return "duckdb"


async def _no_python(script: str, name: str, inputs: Mapping[str, Json]) -> Json:
    raise CapabilityFailed(f"{name} cannot run here: nothing that runs Python was given to the metrics.", script=name)


class MetricRegistry:
    """Every metric of one organisation, by name.

    Args:
        query: asks the connections.
        database_of: tells which kind of database a connection is, one of `metric_dialects.DIALECTS`.
        run: runs the Python functions of metrics, in a sandbox; without it such metrics cannot be read.
        time_zone: in which buckets are cut.
    """

    def __init__(
        self,
        definitions: Iterable[MetricDefinition],
        query: RunQuery,
        *,
        time_zone: str = "UTC",
        database_of: Callable[[str], str] = _all_duckdb,
        run: RunScript = _no_python,
    ) -> None:
        self._definitions = {metric.name: metric for metric in definitions}
        self._query = query
        self._run = run
        self._database_of = database_of
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
        """Return the hash of the definition and of those it is made of: another definition is another version."""
        return version_of(self.get(name), self.get)

    def formula_version(self, name: str) -> Sha256:
        """Return the hash of what its values follow from: words about it can change without changing them."""
        return formula_version(self.get(name), self.get)

    def freshness(self, name: str) -> timedelta:
        """Return how long after the end of a bucket its data may be under way: its own, else that of its parts."""
        metric = self.get(name)
        if metric.freshness_s is not None:
            return timedelta(seconds=metric.freshness_s)
        return max((self.freshness(part) for part in metric.parts), default=timedelta(0))

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
        moment = Moment(at, self._zone, self.freshness(name))
        asked = _Asked(of, start, end, where or {}, tuple(by))
        derived = metric.formula in (Formula.RATIO, Formula.WINDOW)
        values, query = await (self._derived if derived else self._read)(metric, moment, asked)
        return Reading(values, query, self.version(name))

    async def _read(self, metric: MetricDefinition, moment: Moment, asked: _Asked) -> tuple[list[MetricValue], Query]:
        source = str(metric.source)
        query = reading(
            metric, asked.grain, start=asked.start, end=asked.end, where=asked.where, by=asked.by,
            database=self._database_of(source),
        )  # fmt: skip
        rows = await self._query(source, query.sql, query.parameters, moment.at)
        found = await found_in(metric, [Row.of(row, metric, asked.by) for row in rows], self._run)
        slices: dict[Slice, None] = dict.fromkeys(slice_ for _, slice_ in found) if asked.by else {(): None}
        values = [
            moment.value_of(begin, asked.grain, slice_, *found.get((begin, slice_), (None, 0)))
            for begin in buckets.buckets(asked.start, asked.end, asked.grain, self._zone)
            for slice_ in slices
        ]
        return values, query

    async def _derived(
        self, metric: MetricDefinition, moment: Moment, asked: _Asked
    ) -> tuple[list[MetricValue], Query]:
        where = {_part_dimension(metric, name): value for name, value in asked.where.items()}
        by = [_part_dimension(metric, name) for name in asked.by]
        first = asked.start
        if metric.window is not None:
            start = bucket_start(asked.start, asked.grain)
            first = buckets.back_with(start, asked.grain, metric.window.last - 1, self._zone)
        reads = [
            await self.read(part, asked.grain, at=moment.at, start=first, end=asked.end, where=where, by=by)
            for part in metric.parts
        ]
        parts = [[_renamed(value, asked.by) for value in read.values] for read in reads]
        query = Query.together([read.query for read in reads])
        if metric.window is not None:
            return window_of(metric.window, parts[0], asked.grain, moment, first=asked.start), query
        return ratio_of(parts[0], parts[1], asked.grain, moment), query

    def _begun(self, at: datetime, grain: Grain) -> datetime:
        """Return the start of the bucket in which a moment lies."""
        fault = buckets.year_fault(at)
        if fault is not None:
            raise InvalidArguments(f"Nothing can be read as of {at.isoformat()}: {fault}.", at=at.isoformat())
        return buckets.bucket_start(buckets.to_local(at, self._zone), grain)

    def _grain(self, name: str, grain: Grain | str) -> Grain:
        metric = self.get(name)
        if grain in metric.grains:
            return Grain(grain)
        offered = ", ".join(metric.grains)
        raise InvalidArguments(f"The metric {name} cannot be read by {grain}; it has: {offered}.", grain=str(grain))


def _part_dimension(metric: MetricDefinition, name: str) -> Name:
    try:
        return metric.dimensions[name]
    except KeyError:
        offered = ", ".join(metric.dimensions) or "none"
        raise InvalidArguments(
            f"The metric {metric.name} has no dimension {name}; it has: {offered}.", dimension=name
        ) from None


def _renamed(value: MetricValue, by: Sequence[str]) -> MetricValue:
    """Return a part's value under the dimensions of the metric that is made of it."""
    dimensions = dict(zip(by, value.dimensions.values(), strict=True))
    return MetricValue(value.bucket, value.start, value.value, value.n, value.state, value.complete, dimensions)
