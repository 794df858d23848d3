"""How often each sensor looks: more often where anomalies are, less often where it is calm, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from contracts import Name
from runtime.canonical import clean
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, NewEvent, Store
from runtime.settings import AttentionSettings

CHANGED = "sampling.changed"
_TRIES = 10


class Because(StrEnum):
    """Why a sensor looks more or less often than before."""

    START = "start"
    """Nothing is known of it yet."""
    ANOMALIES = "anomalies"
    CALM = "calm"
    BOUNDS = "bounds"
    """The bounds were set anew, and it is put inside."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often one sensor looks."""

    sensor: Name
    every: timedelta
    because: Because = Because.START
    since: datetime | None = None
    """When it was changed last; None while it looks as often as it began with."""
    looks: int = 0
    """Looks on which the last change rests."""
    anomalies: int = 0
    """What the last of these found."""

    def due(self, last_look: datetime | None, at: datetime) -> bool:
        """Whether it looks at that moment, when it looked last then."""
        return last_look is None or at - last_look >= self.every


def next_rate(rate: Rate, *, anomalies: int, calm: int, at: datetime, settings: AttentionSettings) -> Rate:
    """Return how often a sensor looks after a look.

    Args:
        rate: how often it looked before.
        anomalies: what this look found.
        calm: looks in a row that found nothing, this one included.
        at: when it looked.
        settings: bounds and steps.
    """
    least, most = timedelta(seconds=settings.look_least_s), timedelta(seconds=settings.look_most_s)
    inside = min(max(rate.every, least), most)
    if anomalies:
        every, because, looks = max(inside * settings.faster, least), Because.ANOMALIES, 1
    elif calm >= settings.calm_looks:
        every, because, looks = min(inside * settings.slower, most), Because.CALM, calm
    else:
        every, because, looks = inside, Because.BOUNDS, calm
    if every == rate.every:
        return rate
    return Rate(rate.sensor, every, because, at, looks, anomalies)


class Sampling:
    """The rates of one organisation's sensors; the last event of each tells its rate, so that history costs nothing."""

    def __init__(self, store: Store, organisation: Name, settings: AttentionSettings) -> None:
        self._ledger = store.ledger
        self._organisation = organisation
        self._settings = settings
        self._calm: dict[Name, int] = {}
        """Looks in a row without anomaly. A process that starts anew counts from nothing: a rate falls later then."""

    async def rates(self) -> Mapping[Name, Rate]:
        """Return the rates that differ from what sensors begin with."""
        newest = await self._ledger.read_newest(prefix=f"sampling/{self._organisation}/")
        read = [_rate(event.data) for event in newest if event.data is not None]
        return {rate.sensor: rate for rate in read}

    async def rate(self, sensor: Name) -> Rate:
        """Return how often a sensor looks."""
        return (await self._stands(sensor))[0]

    async def looked(self, sensor: Name, *, anomalies: int, at: datetime) -> Rate:
        """Say what a look of a sensor found, and return how often it looks from now on; a change is an event."""
        self._calm[sensor] = 0 if anomalies else self._calm.get(sensor, 0) + 1
        for _ in range(_TRIES):
            before, version = await self._stands(sensor)
            now = next_rate(before, anomalies=anomalies, calm=self._calm[sensor], at=at, settings=self._settings)
            if now is before:
                return before
            try:
                await self._ledger.append(self._append(before, now, version))
            except VersionConflict:
                continue
            self._calm[sensor] = 0
            return now
        raise VersionConflict(f"The rate of {sensor} is changed by too many at once; look again.")

    async def _stands(self, sensor: Name) -> tuple[Rate, int]:
        newest = await self._ledger.read_newest(self._stream(sensor))
        if newest and newest[0].data is not None:
            return _rate(newest[0].data), newest[0].stream_version
        version = newest[0].stream_version if newest else 0
        return Rate(sensor, timedelta(seconds=self._settings.look_every_s)), version

    def _stream(self, sensor: Name) -> str:
        return f"sampling/{self._organisation}/{sensor}"

    def _append(self, before: Rate, now: Rate, version: int) -> Append:
        data = {
            "at": clean(now.since), "sensor": now.sensor, "from_s": before.every.total_seconds(),
            "to_s": now.every.total_seconds(), "because": now.because.value, "looks": now.looks,
            "anomalies": now.anomalies,
        }  # fmt: skip
        source = f"/organisation/{self._organisation}/attention"
        return Append(self._stream(now.sensor), [NewEvent(CHANGED, data)], version, self._organisation, source)


def _rate(data: Mapping[str, object]) -> Rate:
    return Rate(
        sensor=str(data["sensor"]), every=timedelta(seconds=float(str(data["to_s"]))),
        because=Because(str(data["because"])), since=datetime.fromisoformat(str(data["at"])),
        looks=int(str(data["looks"])), anomalies=int(str(data["anomalies"])),
    )  # fmt: skip
