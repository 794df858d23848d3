"""What a sensor has said before, folded from its stream."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.episodes import belong_together
from contracts import Event, Signal, SignalKind
from memory.buckets import from_text


class Said:
    """Earlier signals: buckets that fired, by slice, and when anything else was said last."""

    def __init__(self, definition: SensorDefinition, window: timedelta) -> None:
        self._definition = definition
        self._window = window
        self._fired: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        self._told: dict[str, list[datetime]] = defaultdict(list)
        self.signals: dict[str, Signal] = {}
        """The signals themselves, by key; the newest where a key was told more than once."""

    @classmethod
    def fold(cls, definition: SensorDefinition, window: timedelta, events: Sequence[Event]) -> Said:
        """Return what the events of the sensor's stream tell."""
        said = cls(definition, window)
        for event in events:
            if event.data is None:
                continue
            if event.type == "signal.raised":
                signal = Signal.read(event.data["signal"])  # type: ignore[arg-type]
                said.told(signal, str(event.data["slice"]))
            elif event.type == "signal.merged":
                start = from_text(str(event.data["bucket"]), definition.grain)
                said.fired(str(event.data["slice"]), start, str(event.data["key"]))
        return said

    def told(self, signal: Signal, slice_: str) -> None:
        """Remember a signal."""
        self.signals[signal.key] = signal
        if signal.kind is SignalKind.THRESHOLD and signal.bucket is not None:
            self.fired(slice_, from_text(signal.bucket, self._definition.grain), signal.key)
        else:
            self._told[signal.key].append(signal.at)

    def fired(self, slice_: str, start: datetime, key: str) -> None:
        """Remember that a bucket fired, under the key of its episode."""
        insort(self._fired[slice_], (start, key))

    def knows(self, slice_: str, start: datetime) -> str | None:
        """Return the key under which this very bucket fired before, if it did: a period signals once."""
        return next((key for known, key in self._fired[slice_] if known == start), None)

    def episode_of(self, slice_: str, start: datetime) -> str | None:
        """Return the key of the episode that a bucket belongs to: that of a neighbour within the merge gap."""
        known = self._fired[slice_]
        place = bisect_right(known, start, key=lambda item: item[0])
        if place > 0 and belong_together(self._definition, known[place - 1][0], start):
            return known[place - 1][1]
        if place < len(known) and belong_together(self._definition, start, known[place][0]):
            return known[place][1]
        return None

    def told_lately(self, key: str, at: datetime) -> bool:
        """Whether a signal with this key was told within the window around that moment."""
        return any(abs(at - told) <= self._window for told in self._told[key])
