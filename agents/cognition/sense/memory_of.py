"""What a sensor has said before, folded from its stream."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.episodes import belong_together
from agents.cognition.sense.hysteresis import Mark, Phase
from contracts import Event, Name, Sha256, Signal, SignalKind
from memory.buckets import from_text
from runtime.ledger.port import Ledger

RAISED, MERGED, RAN, RECALIBRATED = "signal.raised", "signal.merged", "sensor.ran", "sensor.recalibrated"
"""Events of a sensor's stream."""


_BLIND_AGAIN = timedelta(hours=20)
"""How long a sensor is silent that has said that there is not enough history, which stays so for weeks of hours: once
a day, also on the shortest day."""


class Said:
    """Earlier signals: buckets that fired, how slices stand, and when anything else was said last."""

    def __init__(self, definition: SensorDefinition, window: timedelta) -> None:
        self._definition = definition
        self._window = window
        self._fired: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        self._told: dict[str, list[datetime]] = defaultdict(list)
        self._open: dict[str, str] = {}
        self.marks: dict[str, Mark] = {}
        """How slices stand, of a sensor with `clear_when`."""
        self.signals: dict[str, Signal] = {}
        """The signals that began something, by key; the newest where a key was told more than once."""
        self.formula: Sha256 | None = None
        """What its metric was worked out by when it looked last; None before the first look."""
        self.blind_at: list[datetime] = []
        """When there was not enough history, as far as that was told."""
        self.calibrations = 0
        """How often it began anew because its metric changed."""
        self.recalibrated_at: datetime | None = None
        """When it last did."""

    @classmethod
    def fold(cls, definition: SensorDefinition, window: timedelta, events: Sequence[Event]) -> Said:
        """Return what the events of the sensor's stream tell."""
        said = cls(definition, window)
        for event in events:
            if event.data is None:
                continue
            match event.type:
                case "signal.raised":
                    signal = Signal.read(event.data["signal"])  # type: ignore[arg-type]
                    said.told(signal, str(event.data["slice"]))
                case "signal.merged":
                    start = from_text(str(event.data["bucket"]), definition.grain)
                    said.fired(str(event.data["slice"]), start, str(event.data["key"]))
                case "sensor.ran":
                    formula = event.data.get("formula")
                    said.formula = said.formula if formula is None else str(formula)
                case "sensor.recalibrated":
                    said = said.anew(str(event.data["to"]))
                    said.recalibrated_at = datetime.fromisoformat(str(event.data["at"]))
        return said

    def anew(self, formula: Sha256) -> Said:
        """Return what is left to know when the metric is another one: nothing but how often that happened."""
        said = Said(self._definition, self._window)
        said.formula, said.calibrations = formula, self.calibrations + 1
        return said

    @property
    def fired_buckets(self) -> int:
        """How many buckets fired, all slices together."""
        return sum(len(fired) for fired in self._fired.values())

    @property
    def open_slices(self) -> list[str]:
        """Slices with an episode that is not over, of a sensor with `clear_when`."""
        return sorted(self._open) if self._definition.clear_when is not None else []

    def told(self, signal: Signal, slice_: str) -> None:
        """Remember a signal."""
        if signal.kind in (SignalKind.THRESHOLD, SignalKind.CLEARED) and signal.bucket is not None:
            start = from_text(signal.bucket, self._definition.grain)
            opens = signal.kind is SignalKind.THRESHOLD
            self.marks[slice_] = Mark(start, Phase.OPEN if opens else Phase.CLEAR)
            if not opens:
                self._open.pop(slice_, None)
                return
            self._open[slice_] = signal.key
            self.fired(slice_, start, signal.key)
        else:
            self._told[signal.key].append(signal.at)
            if signal.kind is SignalKind.NOT_ENOUGH_HISTORY:
                self.blind_at.append(signal.at)
        self.signals[signal.key] = signal

    def fired(self, slice_: str, start: datetime, key: str) -> None:
        """Remember that a bucket fired, under the key of its episode."""
        insort(self._fired[slice_], (start, key))

    def knows(self, slice_: str, start: datetime) -> str | None:
        """Return the key under which this very bucket fired before, if it did: a period signals once."""
        return next((key for known, key in self._fired[slice_] if known == start), None)

    def open_key(self, slice_: str) -> str | None:
        """Return the key of the episode that is open there, of a sensor with `clear_when`."""
        return self._open.get(slice_) if self._definition.clear_when is not None else None

    def episode_of(self, slice_: str, start: datetime) -> str | None:
        """Return the key of the episode that a bucket belongs to: the open one, or that of a neighbour in the gap."""
        if self._definition.clear_when is not None:
            return self.open_key(slice_)
        known = self._fired[slice_]
        place = bisect_right(known, start, key=lambda item: item[0])
        if place > 0 and belong_together(self._definition, known[place - 1][0], start):
            return known[place - 1][1]
        if place < len(known) and belong_together(self._definition, start, known[place][0]):
            return known[place][1]
        return None

    def blind_lately(self, at: datetime) -> bool:
        """Whether it was told around that moment that there is not enough history."""
        return any(abs(at - told) < _BLIND_AGAIN for told in self.blind_at)

    def told_lately(self, key: str, at: datetime) -> bool:
        """Whether a signal with this key was told within the window around that moment."""
        return any(abs(at - told) <= self._window for told in self._told[key])


async def standing_of(ledger: Ledger, organisation: Name, definition: SensorDefinition) -> Said:
    """Return what a sensor has said so far, and how its slices stand."""
    return Said.fold(definition, timedelta(0), await ledger.read(stream_of(organisation, definition.name)))


def stream_of(organisation: Name, sensor: Name) -> str:
    """Return the stream of a threshold sensor."""
    return f"sensor/{organisation}/{sensor}"
