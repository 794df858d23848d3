"""How far the cron sensors of an organisation have come, and what is due: told by the newest event of each stream.

Everything that was due up to `until` is settled: it became an execution, failed, or was passed over by the rule of
the sensor. The event that says so stands in the commit of the execution itself, so that no crash comes between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile

from agents.cognition.sense.cron import CatchUp, CronDefinition, after, before
from contracts import Event, Json, Name
from runtime.ledger.port import Ledger

SCHEDULED = "sensor.scheduled"
"""From `until` on the sensor is watched by this schedule."""
DUE = "sensor.due"
"""What was due at `until` is settled."""
PASSED_OVER = "sensor.passed_over"
"""What was due up to `until` and had no event of its own was passed over."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How far one sensor has come."""

    version: int = 0
    """Events of its stream."""
    schedule: str | None = None
    """Hash of the schedule by which it is watched; None for one that never was."""
    until: datetime | None = None
    """Up to this instant everything is settled."""
    asked: datetime | None = None
    """The latest instant that became an execution, or should have."""
    failed: Mapping[str, Json] | None = None
    """The latest instant of which nothing came: `until` and `problem`."""

    @classmethod
    def of(cls, event: Event | None) -> Stand:
        """Return what the newest event of the sensor's stream tells."""
        if event is None:
            return cls()
        if event.type not in (SCHEDULED, DUE, PASSED_OVER) or event.data is None:
            return cls(event.stream_version)
        return cls.told(event.stream_version, event.data)

    @classmethod
    def told(cls, version: int, data: Mapping[str, Json]) -> Stand:
        """Return what an event with this data tells."""
        asked, failed = data.get("asked"), data.get("failed")
        return cls(
            version, str(data["schedule"]), datetime.fromisoformat(str(data["until"])),
            datetime.fromisoformat(str(asked)) if asked else None, failed if isinstance(failed, dict) else None,
        )  # fmt: skip

    def to_data(self) -> dict[str, Json]:
        """Return what the next event carries on, so that the newest tells all."""
        data: dict[str, Json] = {} if self.asked is None else {"asked": text_of(self.asked)}
        return data if self.failed is None else data | {"failed": dict(self.failed)}


@dataclass(frozen=True, slots=True)
class Due:
    """What a sensor has to do now, oldest first."""

    instants: tuple[datetime, ...] = ()
    """Each becomes an execution."""
    passed_over: tuple[datetime, ...] = ()
    """Those before them that the rule leaves out, the latest first, at most as many as are told."""
    more_passed_over: bool = False
    """Whether there were still more."""


def stream_of(organisation: Name, sensor: Name) -> str:
    """Return the stream of a sensor."""
    return f"sensor/{organisation}/{sensor}"


async def stands(ledger: Ledger, organisation: Name, sensors: Iterable[Name]) -> Mapping[Name, Stand]:
    """Return how far each sensor has come; one read, however much they said before."""
    streams = {stream_of(organisation, name): name for name in sensors}
    newest = await ledger.read_newest(*streams) if streams else []
    found = {streams[event.subject]: event for event in newest}
    return {name: Stand.of(found.get(name)) for name in streams.values()}


def due(definition: CronDefinition, since: datetime, now: datetime, *, grace_s: float, most: int) -> Due:
    """Return what is due in (`since`, `now`], by the catch-up rule of the sensor.

    What is late by no more than `grace_s` was not missed: it is done whatever the rule says, for a server that was
    busy, or was being replaced, watched all the same.

    Args:
        most: executions at once at most; of more the newest ones.
    """
    missed_before = now.timestamp() - grace_s
    newest_first = takewhile(lambda instant: instant > since, before(definition, now))
    found = list(islice(newest_first, most + 1))
    match definition.catch_up:
        case CatchUp.ALL:
            keep = found[:most]
        case CatchUp.LAST:
            keep = [each for each in found[:most] if each.timestamp() >= missed_before] or found[:1]
        case CatchUp.SKIP:
            keep = [each for each in found[:most] if each.timestamp() >= missed_before]
    left = found[len(keep) :]
    return Due(tuple(reversed(keep)), tuple(left[:most]), more_passed_over=len(found) > most)


def next_due(definition: CronDefinition, since: datetime) -> datetime | None:
    """Return the first instant after `since` at which the sensor is due; None where none comes."""
    return next(after(definition, since), None)


class Ahead:
    """When a sensor is due next, and then, looked up once: it runs along with what is settled."""

    def __init__(self, definition: CronDefinition, until: datetime) -> None:
        self._until = until
        self._instants = after(definition, until)
        self.first = next(self._instants, None)
        self._second = next(self._instants, None)

    def is_behind(self, until: datetime) -> bool:
        """Whether this is what lies behind `until`; it moves on where the first has just been settled."""
        if until == self.first:
            self._until, self.first = until, self._second
            self._second = None if self.first is None else next(self._instants, None)
        return until == self._until

    def only(self, now: datetime) -> datetime | None:
        """Return what is due where that is one instant; None where there are none or several."""
        if self.first is None or self.first > now or (self._second is not None and self._second <= now):
            return None
        return self.first


def key_of(sensor: Name, instant: datetime) -> str:
    """Return the idempotency key of what is due at an instant: the same for every server, and for a second try."""
    return f"sensor:{sensor}:{text_of(instant)}"


def text_of(instant: datetime) -> str:
    """Return an instant as it is stored: `2026-03-29T01:00:00Z`."""
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def roots_of(definition: CronDefinition, instant: datetime) -> dict[str, Json]:
    """Return what the bindings of the goal may name."""
    local = instant.astimezone(definition.zone)
    return {
        "at": text_of(instant),
        "date": f"{local:%Y-%m-%d}",
        "time": f"{local:%H:%M}",
        "sensor": definition.name,
    }
