"""Running a sensor: read, judge, tell what is new, remember it in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.judge import Judged, judge
from agents.cognition.sense.memory_of import RAN, RECALIBRATED, Said, stream_of
from agents.cognition.sense.telling import Merged, Telling
from contracts import Event, Json, Name, Problem, Signal
from memory.buckets import back, bucket_start, next_start, to_local
from memory.metrics import MetricRegistry, MetricValue
from runtime.canonical import clean
from runtime.errors import CapabilityFailed, SiliconError, VersionConflict
from runtime.expressions import ExpressionFault
from runtime.ledger.port import Append, NewEvent, Store
from runtime.settings.groups import SensorSettings

_TRIES = 5


@dataclass(frozen=True, slots=True)
class SensorRun:
    """What one run of one sensor gave."""

    sensor: Name
    at: datetime
    buckets: int
    """Buckets judged, all slices together."""
    signals: tuple[Signal, ...] = ()
    """New ones, oldest first."""
    merged: tuple[Merged, ...] = ()
    problem: Problem | None = None
    """Why it failed, when it did."""
    judged: tuple[Judged, ...] = field(default=(), repr=False)
    """All judgements, for whoever wants to see them."""

    @property
    def nothing(self) -> bool:
        """Whether it had nothing to say."""
        return not self.signals and not self.merged


@dataclass(frozen=True, slots=True)
class _Read:
    """What a sensor saw, before it is judged."""

    first: datetime
    """Start of the first bucket that is judged; those before are history."""
    values: Sequence[MetricValue]


class Sensors:
    """Runs the threshold sensors of one organisation."""

    def __init__(self, store: Store, metrics: MetricRegistry, settings: SensorSettings, organisation: Name) -> None:
        self._ledger = store.ledger
        self._metrics = metrics
        self._settings = settings
        self._window = timedelta(seconds=settings.deduplicate_s)
        self._organisation = organisation

    async def run(
        self, definition: SensorDefinition, at: datetime, *, since: datetime | None = None,
        seen: datetime | None = None,
    ) -> SensorRun:  # fmt: skip
        """Let the sensor look at what is known at `at`, and append what it says to its stream.

        It speaks about the bucket that runs at that moment, the one that ended last and those whose data was due since
        then; with `since` about all that ended after that moment. With `seen`, the moment of its last look, no bucket
        between the two looks is left out, as far as `sensor.catch_up_most` reaches. A fault while reading or judging is
        a signal of its own, not an error. A sensor whose metric changed begins anew first.
        """
        read, problem = None, None
        try:
            read = await self._read(definition, at, since, seen)
        except SiliconError as error:
            problem = error.problem()
        for _ in range(_TRIES):
            run = await self._tell(definition, at, read, problem)
            if run is not None:
                return run
        raise VersionConflict(f"The sensor {definition.name} is run by too many at once; run it again.")

    async def recalibrate(self, definition: SensorDefinition, at: datetime) -> bool:
        """Let a sensor begin anew because its metric changed; return whether it had not done so already."""
        for _ in range(_TRIES):
            events = await self._ledger.read(self._stream(definition))
            said = Said.fold(definition, self._window, events)
            begun = self._begin_anew(definition, said, at, told=True)
            if begun is None:
                return False
            try:
                await self._ledger.append(self._append(definition, [begun[1]], len(events)))
            except VersionConflict:
                continue
            return True
        raise VersionConflict(f"The sensor {definition.name} is run by too many at once; run it again.")

    async def _read(
        self, definition: SensorDefinition, at: datetime, since: datetime | None, seen: datetime | None
    ) -> _Read:  # fmt: skip
        zone, grain = self._metrics.zone, definition.grain
        freshness = self._metrics.freshness(definition.metric)
        running = bucket_start(to_local(at, zone), grain)
        due = bucket_start(to_local(at - freshness, zone), grain)
        first = back(due, grain, 1) if since is None else bucket_start(to_local(since, zone), grain)
        if since is None and seen is not None:
            then = bucket_start(to_local(seen - freshness, zone), grain)
            first = min(first, max(then, back(due, grain, self._settings.catch_up_most)))
        start = back(first, grain, definition.buckets_before)
        read = await self._metrics.read(
            definition.metric, grain, at=at, start=start, end=next_start(running, grain), by=definition.by
        )
        return _Read(first, read.values)

    async def _judged_beside(self, definition: SensorDefinition, read: _Read, said: Said) -> list[Judged]:
        """Judge; what is usual takes long to work out, so that is done beside the event loop."""
        if definition.usual is None:
            return self._judged(definition, read, said)
        return await asyncio.to_thread(self._judged, definition, read, said)

    def _judged(self, definition: SensorDefinition, read: _Read, said: Said) -> list[Judged]:
        since = read.first if definition.in_a_row == 1 else None  # a row may have begun at any time before
        marks = said.marks if definition.clear_when is not None else {}
        judged = judge(definition, read.values, marks=marks, since=since, settings=self._settings)
        return [each for each in judged if each.value.start >= read.first]

    async def _tell(
        self, definition: SensorDefinition, at: datetime, read: _Read | None, problem: Problem | None
    ) -> SensorRun | None:
        """Judge and append what is new; None when the stream moved on meanwhile."""
        events: Sequence[Event] = await self._ledger.read(self._stream(definition))
        said = Said.fold(definition, self._window, events)
        begun = self._begin_anew(definition, said, at)
        said, first = (begun[0], [begun[1]]) if begun is not None else (said, [])
        judged: list[Judged] = []
        if read is not None:
            try:
                judged = await self._judged_beside(definition, read, said)
            except (SiliconError, ExpressionFault) as error:
                problem = _problem_of(error)
        telling = Telling(definition, at, self._organisation, said, self._metrics)
        if problem is not None:
            telling.failed(problem)
        else:
            telling.tell(judged)
        looked: dict[str, Json] = {"at": clean(at), "buckets": len(judged)}
        formula = self._formula(definition)
        run = SensorRun(
            definition.name, at, len(judged), tuple(telling.signals), tuple(telling.merged), problem, tuple(judged)
        )
        if events and not first and not telling.events and formula == said.formula:
            return run  # a look that finds nothing new is no fact: a server has its sensors look every few minutes
        ran = NewEvent(RAN, looked if formula is None else {**looked, "formula": formula})
        try:
            await self._ledger.append(self._append(definition, [*first, *telling.events, ran], len(events)))
        except VersionConflict:
            return None
        return run

    def _begin_anew(
        self, definition: SensorDefinition, said: Said, at: datetime, *, told: bool = False
    ) -> tuple[Said, NewEvent] | None:
        """Return what is left to know, and the event, where the metric is worked out in another way than before.

        A sensor that has not looked yet has nothing to forget; it begins anew only when that is `told`.
        """
        formula = self._formula(definition)
        if formula is None or formula == said.formula or (said.formula is None and not told):
            return None
        data: dict[str, Json] = {
            "metric": definition.metric,
            "from": said.formula,
            "to": formula,
            "at": clean(at),
            "forgotten": {"fired": said.fired_buckets, "open": list[Json](said.open_slices)},
        }
        return said.anew(formula), NewEvent(RECALIBRATED, data)

    def _formula(self, definition: SensorDefinition) -> str | None:
        """Return what the metric is worked out by; None where there is no such metric, which the reading tells."""
        if definition.metric not in self._metrics.names():
            return None
        return self._metrics.formula_version(definition.metric)

    def _append(self, definition: SensorDefinition, events: Sequence[NewEvent], version: int) -> Append:
        source = f"/organisation/{self._organisation}/sensor/{definition.name}"
        return Append(self._stream(definition), tuple(events), version, self._organisation, source)

    def _stream(self, definition: SensorDefinition) -> str:
        return stream_of(self._organisation, definition.name)


def _problem_of(error: SiliconError | ExpressionFault) -> Problem:
    if isinstance(error, SiliconError):
        return error.problem()
    return CapabilityFailed(f"A condition of the sensor is no expression: {error.message}").problem()
