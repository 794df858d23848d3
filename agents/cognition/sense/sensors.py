"""Running a sensor: read, judge, tell what is new, remember it in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.judge import Judged, Standing, judge, slice_text
from agents.cognition.sense.memory_of import Said
from contracts import Name, Problem, Severity, Signal, SignalId, SignalKind
from memory.buckets import back, bucket_start, next_start, to_local, to_utc
from memory.metrics import MetricRegistry, ValueState
from runtime.canonical import clean
from runtime.errors import CapabilityFailed, SiliconError, VersionConflict
from runtime.expressions import ExpressionFault
from runtime.ledger.port import Append, NewEvent, Store
from runtime.settings.groups import SensorSettings

_TRIES = 5
_UNKNOWN = (Standing.MISSING, Standing.NOT_YET_ARRIVED)


@dataclass(frozen=True, slots=True)
class Merged:
    """A bucket that fired and belongs to a signal raised before."""

    signal: Signal
    """That signal. Its goal may be submitted again: under the same key it is the same execution."""
    bucket: str
    slice: str
    known: bool
    """Whether this very bucket had been told before."""


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


class Sensors:
    """Runs the sensors of one organisation."""

    def __init__(self, store: Store, metrics: MetricRegistry, settings: SensorSettings, organisation: Name) -> None:
        self._ledger = store.ledger
        self._metrics = metrics
        self._window = timedelta(seconds=settings.deduplicate_s)
        self._organisation = organisation

    async def run(self, definition: SensorDefinition, at: datetime, *, since: datetime | None = None) -> SensorRun:
        """Let the sensor look at what is known at `at`, and append what it says to its stream.

        It speaks about the bucket that runs at that moment and the one that ended last; with `since` about all that
        ended after that moment. A fault while reading or judging is a signal of its own, not an error.
        """
        try:
            judged = await self._judged(definition, at, since)
            problem = None
        except (SiliconError, ExpressionFault) as error:
            judged, problem = [], _problem_of(error)
        for _ in range(_TRIES):
            run = await self._tell(definition, at, judged, problem)
            if run is not None:
                return run
        raise VersionConflict(f"The sensor {definition.name} is run by too many at once; run it again.")

    async def _judged(self, definition: SensorDefinition, at: datetime, since: datetime | None) -> list[Judged]:
        zone, grain = self._metrics.zone, definition.grain
        now = to_local(at, zone)
        running = bucket_start(now, grain)
        first = back(running, grain, 1) if since is None else bucket_start(to_local(since, zone), grain)
        start = back(first, grain, definition.buckets_before)
        read = await self._metrics.read(
            definition.metric, grain, at=at, start=start, end=next_start(running, grain), by=definition.by
        )
        return [judged for judged in judge(definition, read.values) if judged.value.start >= first]

    async def _tell(
        self, definition: SensorDefinition, at: datetime, judged: Sequence[Judged], problem: Problem | None
    ) -> SensorRun | None:
        """Append what is new; None when the stream moved on meanwhile."""
        stream = f"sensor/{self._organisation}/{definition.name}"
        events = await self._ledger.read(stream)
        telling = _Telling(
            definition, at, self._organisation, Said.fold(definition, self._window, events), self._metrics
        )
        if problem is not None:
            telling.failed(problem)
        else:
            telling.tell(judged)
        ran = NewEvent("sensor.ran", {"at": clean(at), "buckets": len(judged)})
        source = f"/organisation/{self._organisation}/sensor/{definition.name}"
        append = Append(stream, (*telling.events, ran), len(events), self._organisation, source)
        try:
            await self._ledger.append(append)
        except VersionConflict:
            return None
        return SensorRun(
            definition.name, at, len(judged), tuple(telling.signals), tuple(telling.merged), problem, tuple(judged)
        )


class _Telling:
    """What one run says, compared with what was said before."""

    def __init__(
        self, definition: SensorDefinition, at: datetime, organisation: Name, said: Said, metrics: MetricRegistry
    ) -> None:
        self._definition = definition
        self._at = at
        self._organisation = organisation
        self._said = said
        self._zone = metrics.zone
        self.signals: list[Signal] = []
        self.merged: list[Merged] = []
        self.events: list[NewEvent] = []

    def tell(self, judged: Sequence[Judged]) -> None:
        """Go through the buckets in order of time; the values of one bucket stand together."""
        groups: dict[datetime, list[Judged]] = {}
        for bucket in judged:
            groups.setdefault(bucket.value.start, []).append(bucket)
        if not groups:
            self._tell(self._signal(SignalKind.NO_DATA, None, f"{self._definition.name}:no_data"), "all")
        for group in groups.values():
            self._tell_bucket(group)

    def failed(self, problem: Problem) -> None:
        """Say that the sensor could not look."""
        signal = self._signal(SignalKind.SENSOR_FAILED, None, f"{self._definition.name}:sensor_failed")
        self._tell(signal, "all", problem)

    def _tell_bucket(self, group: Sequence[Judged]) -> None:
        bucket, name = group[0], self._definition.name
        standings = {judged.standing for judged in group}
        if bucket.value.complete and standings <= set(_UNKNOWN):
            key = f"{name}:no_data:{bucket.value.bucket}"
            self._tell(self._signal(SignalKind.NO_DATA, bucket, key), "all")
        elif Standing.NOT_ENOUGH_HISTORY in standings and standings <= {Standing.NOT_ENOUGH_HISTORY, *_UNKNOWN}:
            key = f"{name}:not_enough_history:{bucket.value.bucket}"
            self._tell(self._signal(SignalKind.NOT_ENOUGH_HISTORY, bucket, key), "all")
        for judged in group:
            if judged.standing is Standing.FIRES:
                self._tell_firing(judged)

    def _tell_firing(self, judged: Judged) -> None:
        slice_, start = slice_text(judged.value), judged.value.start
        known = self._said.knows(slice_, start)
        key = known or self._said.episode_of(slice_, start)
        if key is None:
            key = f"{self._definition.name}:{judged.value.bucket}:{slice_}"
            self._tell(self._signal(SignalKind.THRESHOLD, judged, key), slice_)
            return
        self.merged.append(Merged(self._said.signals[key], judged.value.bucket, slice_, known=known is not None))
        if known is None:
            self._said.fired(slice_, start, key)
            data = {"key": key, "bucket": judged.value.bucket, "slice": slice_, "value": judged.value.value}
            self.events.append(NewEvent("signal.merged", data))

    def _tell(self, signal: Signal, slice_: str, problem: Problem | None = None) -> None:
        if self._said.told_lately(signal.key, signal.at):
            self.merged.append(Merged(self._said.signals[signal.key], signal.bucket or "", slice_, known=True))
            return
        self._said.told(signal, slice_)
        self.signals.append(signal)
        data = {"signal": signal.to_json(), "slice": slice_}
        if problem is not None:
            data["problem"] = problem.to_json()
        self.events.append(NewEvent("signal.raised", data))

    def _signal(self, kind: SignalKind, judged: Judged | None, key: str) -> Signal:
        definition = self._definition
        about = kind is SignalKind.THRESHOLD and judged is not None and judged.value.state is ValueState.VALUE
        return Signal(
            signal_id=SignalId.new(),
            organisation=self._organisation,
            sensor=definition.name,
            kind=kind,
            metric=definition.metric,
            bucket=judged.value.bucket if judged else None,
            dimensions=dict(judged.value.dimensions) if judged and about else {},
            value=judged.value.value if judged and about else None,
            n=judged.value.n if judged and about else None,
            threshold=definition.when if about else None,
            severity=definition.severity if about else Severity.LOW,
            key=key,
            at=self._moment(judged),
        )

    def _moment(self, judged: Judged | None) -> datetime:
        """Return the end of the bucket, or the moment of the reading while the bucket runs."""
        if judged is None or not judged.value.complete:
            return self._at
        return to_utc(next_start(judged.value.start, self._definition.grain), self._zone)


def _problem_of(error: SiliconError | ExpressionFault) -> Problem:
    if isinstance(error, SiliconError):
        return error.problem()
    return CapabilityFailed(f"A condition of the sensor is no expression: {error.message}").problem()
