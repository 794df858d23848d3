"""What the reasoner reads of the metric registry, as known at one moment: the whole, its slices, other metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.cognition.explain.explanation import Compare, Question
from agents.cognition.explain.series import Point
from contracts import Grain, Json, MetricDefinition, Sha256, Text
from memory import buckets
from memory.metrics import MetricRegistry, MetricValue, Reading
from runtime.canonical import clean, sha256
from runtime.errors import InvalidArguments

_LAST: Mapping[Grain, int] = {Grain.HOUR: 336, Grain.DAY: 56, Grain.WEEK: 52, Grain.MONTH: 36}
"""Earlier periods that are looked at: two weeks of hours, eight weeks of days, a year of weeks, three of months."""
_SEASON: Mapping[Grain, int] = {Grain.HOUR: 24, Grain.DAY: 7, Grain.WEEK: 1, Grain.MONTH: 12}
"""Periods until the same season comes again; weeks have none."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of a call, checked."""

    metric: str
    grain: Grain
    period: str | None = None
    where: Mapping[str, Json] = field(default_factory=dict)
    by: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()
    compare: str = "usual"
    last: int | None = None
    lags: int = 2
    at_least: int = 1


@dataclass(frozen=True, slots=True)
class Read:
    """The question with all values, and where they came from."""

    asked: Asked
    metric: MetricDefinition
    version: Sha256
    question: Question
    known_at: datetime
    next_period: str
    titles: Mapping[str, Text]
    """Name → title of each other metric."""
    query_sha256: Sha256
    """Over every query that was asked, with its parameters."""
    data_sha256: Sha256
    """Over every value that was read: the version of the data."""

    def names(self, language: str) -> Json:
        """Return what the words may say beside the statistics: titles and periods, which may hold digits."""
        titles = [in_language(title, language) for title in (self.metric.title, *self.titles.values())]
        return [*titles, self.asked.metric, self.next_period]


class MetricReader:
    """Reads one organisation's metrics."""

    def __init__(self, registry: MetricRegistry) -> None:
        self._registry = registry

    async def read(self, asked: Asked, known_at: datetime) -> Read:
        """Return everything that an explanation needs.

        Raises:
            NotFound: there is no such metric.
            InvalidArguments: a grain or dimension is not one of the metric's, or the period has not begun.
        """
        metric = self._registry.get(asked.metric)
        now, start, end = self._span(asked, known_at)
        by = asked.by if asked.by is not None else tuple(name for name in metric.dimensions if name not in asked.where)
        readings: list[Reading] = []

        async def values(name: str, where: Mapping[str, Json], dimensions: Sequence[str] = ()) -> list[MetricValue]:
            reading = await self._registry.read(
                name, asked.grain, at=known_at, start=start, end=end, where=where, by=dimensions
            )
            readings.append(reading)
            return reading.values

        whole = _points(await values(asked.metric, asked.where), asked)
        counted = {point.period for point in whole}
        slices = {name: _slices(await values(asked.metric, asked.where, [name]), name, counted, asked) for name in by}
        drivers: dict[str, list[Point]] = {}
        for name in asked.others:
            points = _points(await values(name, self._shared(name, asked.where)), asked, 0)
            drivers[name] = [point for point in points if point.period in counted]
        season = _SEASON[asked.grain]
        question = Question(
            whole, metric.unit, slices, drivers, Compare(asked.compare),
            season if len(whole) > season and asked.at_least <= 1 else 1, asked.lags,
        )  # fmt: skip
        queries = [{"sql": reading.query.sql, "parameters": reading.query.parameters} for reading in readings]
        return Read(
            asked, metric, self._registry.version(asked.metric), question, known_at,
            buckets.to_text(buckets.next_start(now, asked.grain), asked.grain),
            {name: self._registry.get(name).title for name in asked.others},
            sha256(clean(queries)), sha256(clean([_told(reading.values) for reading in readings])),
        )  # fmt: skip

    def _span(self, asked: Asked, known_at: datetime) -> tuple[datetime, datetime, datetime]:
        """Return the start of the period that is explained, of the first one read, and the end."""
        local = buckets.to_local(known_at, self._registry.zone)
        now = buckets.from_text(asked.period, asked.grain) if asked.period else buckets.bucket_start(local, asked.grain)
        if now > local:
            raise InvalidArguments(
                f"{asked.period} begins after {local:%Y-%m-%d %H:%M}, the moment of this execution: nothing is known "
                "of it yet.",
                period=asked.period,
            )
        return (
            now,
            buckets.back(now, asked.grain, asked.last or _LAST[asked.grain]),
            buckets.next_start(now, asked.grain),
        )

    def _shared(self, name: str, where: Mapping[str, Json]) -> dict[str, Json]:
        """Return of the slice what another metric can be cut by as well."""
        dimensions = self._registry.get(name).dimensions
        return {dimension: value for dimension, value in where.items() if dimension in dimensions}


def _points(values: Sequence[MetricValue], asked: Asked, at_least: int | None = None) -> list[Point]:
    """Return the periods; earlier ones with too few rows are left out, those before the first value do not count."""
    least = asked.at_least if at_least is None else at_least
    points = [
        Point(value.bucket, value.value, value.n, value.complete, _season(value.start, asked.grain)) for value in values
    ]
    first = next((place for place, point in enumerate(points) if point.value is not None), len(points) - 1)
    kept = points[first:] if at_least is None else points
    return [point for point in kept[:-1] if least <= 1 or point.n >= least] + kept[-1:]


def _slices(values: Sequence[MetricValue], dimension: str, counted: set[str], asked: Asked) -> dict[str, list[Point]]:
    found: dict[Json, list[Point]] = {}
    for value in values:
        if value.bucket in counted:
            point = Point(value.bucket, value.value, value.n, value.complete, _season(value.start, asked.grain))
            found.setdefault(value.dimensions[dimension], []).append(point)
    nothing = found.pop(None, None)
    slices = {str(name): points for name, points in found.items()}
    if nothing is not None:
        slices["(None)" if "None" in slices else "None"] = nothing  # rows without a value, beside one that reads so
    return slices


def _season(start: datetime, grain: Grain) -> int:
    match grain:
        case Grain.HOUR:
            return start.hour
        case Grain.DAY:
            return start.weekday()
        case Grain.MONTH:
            return start.month
    return 0


def _told(values: Sequence[MetricValue]) -> Json:
    return [[value.bucket, dict(value.dimensions), value.value, value.n] for value in values]


def in_language(text: Text, language: str) -> str:
    """Return the text in that language, else in English."""
    return text if isinstance(text, str) else text.get(language) or text.get("en") or ""
