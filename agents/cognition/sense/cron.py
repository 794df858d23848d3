"""Sensors that speak at set times: `cron:` in local time, with a stated rule for what clock changes skip and repeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from heapq import heappop, heappush
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agents.cognition.sense.definition import Raise
from contracts import Name, Severity, Text
from runtime.canonical import sha256

_FAR = timedelta(hours=26)
"""Further than any change of clocks moves local time: Samoa left out a whole day in 2011."""
_FIELDS = 5


class Skipped(StrEnum):
    """What becomes of a local time that clocks pass over when they are put forward."""

    AFTER = "after"
    """It is due at the moment of the change. Several that are passed over are due once."""
    SKIP = "skip"
    """It is not due that day."""


class Repeated(StrEnum):
    """What becomes of a local time that clocks show twice when they are put back."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


class CatchUp(StrEnum):
    """What becomes of times that passed while nobody watched."""

    SKIP = "skip"
    LAST = "last"
    """The latest of them is made up for, the others are passed over."""
    ALL = "all"
    """Each is made up for, oldest first; at most the newest `sensor.catch_up_most`."""


CRON_ROOTS = ("at", "date", "time", "sensor")
"""What the bindings of a goal may name: the instant (UTC), its local date and time, the sensor."""


@dataclass(frozen=True, slots=True)
class CronDefinition:
    """One file of `sensors/` with `cron:`."""

    name: Name
    cron: str
    """Five fields: minute, hour, day of month, month, day of week."""
    time_zone: str
    title: Text = ""
    skipped: Skipped = Skipped.AFTER
    repeated: Repeated = Repeated.FIRST
    catch_up: CatchUp = CatchUp.LAST
    severity: Severity = Severity.LOW
    raises: Raise | None = None

    @property
    def zone(self) -> ZoneInfo:
        """Where its local times are read."""
        return ZoneInfo(self.time_zone)

    @property
    def schedule_sha256(self) -> str:
        """Hash of what decides when it is due; another one begins anew."""
        return sha256([self.cron, self.time_zone, self.skipped.value, self.repeated.value])


def usual_repeated(cron: str) -> Repeated:
    """Return the rule that holds when a file states none.

    Every hour means every hour that passes, a set hour once a day: what people expect of cron (Debian's does so).
    """
    fields = cron.split()
    return Repeated.BOTH if len(fields) == _FIELDS and fields[1].startswith("*") else Repeated.FIRST


def cron_fault(cron: str) -> str | None:
    """Return why the expression cannot be used, or None when it can."""
    fields = len(cron.split())
    if fields != _FIELDS:
        return f"it has {fields} fields, and takes five: minute, hour, day of month, month, day of week"
    try:
        next(CronSim(cron, datetime(2024, 1, 1)))
    except CronSimError as error:
        return str(error)[:1].lower() + str(error)[1:]
    except StopIteration:
        return "no such day comes in the next 50 years"
    return None


def after(definition: CronDefinition, moment: datetime) -> Iterator[datetime]:
    """Yield the instants after a moment at which the sensor is due, in order, in UTC, each once."""
    return _walk(definition, moment, back=False)


def before(definition: CronDefinition, moment: datetime) -> Iterator[datetime]:
    """Yield the instants up to and at a moment at which the sensor is due, the latest first, in UTC, each once."""
    return _walk(definition, moment, back=True)


def _walk(definition: CronDefinition, moment: datetime, *, back: bool) -> Iterator[datetime]:
    """Go through local times with the library, and turn each into the instants that it stands for.

    Local times run with the instants but for the hours around a change of clocks, so an instant is given out once no
    local time still to come can stand for one before it.
    """
    zone, sign = definition.zone, -1 if back else 1
    start = moment.astimezone(zone).replace(tzinfo=None, fold=0)
    if _changes_near(moment, zone):
        start -= sign * _FAR
    if back:
        start += timedelta(seconds=1)  # the library passes over the moment it starts from
    waiting: list[float] = []
    told: datetime | None = None
    border = sign * moment.timestamp()

    def ready(until: float | None) -> Iterator[datetime]:
        nonlocal told
        while waiting and (until is None or waiting[0] <= until):
            instant = datetime.fromtimestamp(sign * heappop(waiting), UTC)
            if instant != told:
                told = instant
                yield instant

    for local in CronSim(definition.cron, start, reverse=back):
        stands_for, first, last = _instants(definition, local, zone)
        for instant in stands_for:
            key = sign * instant.timestamp()
            if key > border or (back and key == border):
                heappush(waiting, key)
        yield from ready(sign * (last if back else first).timestamp())
    yield from ready(None)


def _changes_near(moment: datetime, zone: ZoneInfo) -> bool:
    offsets = {(moment + shift).astimezone(zone).utcoffset() for shift in (-_FAR, timedelta(0), _FAR)}
    return len(offsets) > 1


def _instants(
    definition: CronDefinition, local: datetime, zone: ZoneInfo
) -> tuple[tuple[datetime, ...], datetime, datetime]:
    """Return when a local time is due, and between which instants those of its neighbours lie."""
    one = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    other = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if one == other:
        return (one,), one, one
    if one > other:  # clocks were put forward over it: read with the old offset it lies behind the change
        change = _change_between(other, one, zone)
        return ((change,) if definition.skipped is Skipped.AFTER else ()), change, change
    match definition.repeated:
        case Repeated.FIRST:
            return (one,), one, other
        case Repeated.LAST:
            return (other,), one, other
    return (one, other), one, other


def _change_between(early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """Return the first second at which the new offset holds."""
    old = early.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=int((late - early).total_seconds()) // 2)
        if middle.astimezone(zone).utcoffset() == old:
            early = middle
        else:
            late = middle
    return late
