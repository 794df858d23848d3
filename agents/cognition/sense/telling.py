"""What one run of a sensor says, compared with what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.judge import Judged, Standing, slice_text
from agents.cognition.sense.memory_of import MERGED, RAISED, Said
from contracts import Name, Problem, Severity, Signal, SignalId, SignalKind
from memory.buckets import next_start, to_utc
from memory.metrics import MetricRegistry, ValueState
from runtime.canonical import clean
from runtime.ledger.port import NewEvent

_UNKNOWN = frozenset({Standing.MISSING, Standing.NOT_YET_ARRIVED})
_OF_A_VALUE = (SignalKind.THRESHOLD, SignalKind.CLEARED)
_KEPT_OF_FORMULA = 8


@dataclass(frozen=True, slots=True)
class Merged:
    """A bucket that fired and belongs to a signal raised before."""

    signal: Signal
    """That signal. Its goal may be submitted again: under the same key it is the same execution."""
    bucket: str
    slice: str
    known: bool
    """Whether this very bucket had been told before."""


class Telling:
    """The signals and events of one run."""

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
        if bucket.value.complete and standings <= _UNKNOWN:
            key = f"{name}:no_data:{bucket.value.bucket}"
            self._tell(self._signal(SignalKind.NO_DATA, bucket, key), "all")
        elif Standing.NOT_ENOUGH_HISTORY in standings and standings <= {Standing.NOT_ENOUGH_HISTORY, *_UNKNOWN}:
            key = f"{name}:not_enough_history:{bucket.value.bucket}"
            signal = self._signal(SignalKind.NOT_ENOUGH_HISTORY, bucket, key)
            if not self._said.blind_lately(signal.at):
                self._tell(signal, "all")
        for judged in group:
            if judged.standing is Standing.FIRES:
                self._tell_firing(judged)
            elif judged.standing is Standing.CLEARS:
                self._tell_cleared(judged)

    def _tell_firing(self, judged: Judged) -> None:
        slice_, start = slice_text(judged.value), judged.value.start
        known = self._said.knows(slice_, start)
        key = known or self._said.episode_of(slice_, start)
        if key is None:
            self._tell(self._signal(SignalKind.THRESHOLD, judged, self._key(judged, slice_)), slice_)
            return
        self.merged.append(Merged(self._said.signals[key], judged.value.bucket, slice_, known=known is not None))
        if known is None:
            self._said.fired(slice_, start, key)
            data = {"key": key, "bucket": judged.value.bucket, "slice": slice_, "value": judged.value.value}
            self.events.append(NewEvent(MERGED, data))

    def _tell_cleared(self, judged: Judged) -> None:
        slice_ = slice_text(judged.value)
        key = self._said.open_key(slice_)
        if key is not None:
            self._tell(self._signal(SignalKind.CLEARED, judged, key), slice_)

    def _key(self, judged: Judged, slice_: str) -> str:
        """Return the key of a new episode; after a change of the metric the same period is another one."""
        key = f"{self._definition.name}:{judged.value.bucket}:{slice_}"
        anew = self._said.calibrations and self._said.formula
        return f"{key}:{anew[:_KEPT_OF_FORMULA]}" if anew else key

    def _tell(self, signal: Signal, slice_: str, problem: Problem | None = None) -> None:
        if self._said.told_lately(signal.key, signal.at):
            self.merged.append(Merged(self._said.signals[signal.key], signal.bucket or "", slice_, known=True))
            return
        self._said.told(signal, slice_)
        self.signals.append(signal)
        data = {"signal": signal.to_json(), "slice": slice_, "at": clean(self._at)}
        if problem is not None:
            data["problem"] = problem.to_json()
        self.events.append(NewEvent(RAISED, data))

    def _signal(self, kind: SignalKind, judged: Judged | None, key: str) -> Signal:
        definition = self._definition
        about = judged if judged is not None and kind in _OF_A_VALUE else None
        if about is not None and about.value.state is not ValueState.VALUE:
            about = None
        fires = about is not None and kind is SignalKind.THRESHOLD
        usual = about.usual if about is not None else None
        return Signal(
            signal_id=SignalId.new(),
            organisation=self._organisation,
            sensor=definition.name,
            kind=kind,
            metric=definition.metric,
            bucket=judged.value.bucket if judged else None,
            dimensions=dict(about.value.dimensions) if about else {},
            value=about.value.value if about else None,
            n=about.value.n if about else None,
            threshold=definition.when if fires else None,
            expected=usual.expected if usual else None,
            low=usual.low if usual else None,
            high=usual.high if usual else None,
            severity=definition.severity if fires else Severity.LOW,
            key=key,
            at=self._moment(judged),
        )

    def _moment(self, judged: Judged | None) -> datetime:
        """Return the end of the bucket, or the moment of the reading while it may still change."""
        if judged is None or not judged.value.complete:
            return self._at
        return to_utc(next_start(judged.value.start, self._definition.grain), self._zone)
