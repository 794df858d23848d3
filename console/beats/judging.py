"""When each threshold sensor looks: every so often of the organisation's own time, and again after a failure.

How each looked last is derived: it stands in the row of a consumer, which may be lost. A sensor that looks once too
often says nothing twice, for what it said stands in its own stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agents.cognition.attend import Sampling
from agents.cognition.sense import SensorDefinition, SensorRun, Sensors
from contracts import Name, Problem, SignalKind
from runtime.canonical import clean
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger


@dataclass(frozen=True, slots=True)
class Looked:
    """How one sensor looked last."""

    at: datetime
    """The organisation's own time."""
    on: datetime
    """The clock of the server."""
    failed_on: datetime | None = None
    """When it last could not look."""
    problem: Problem | None = None
    """Why it could not, then."""
    failing: bool = False
    """Whether that was its last look."""
    seen: datetime | None = None
    """The organisation's own time when it last could look: what has passed since then is still to be judged."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Looked:
        """Return what is stored."""
        failed, problem, seen = data.get("failed_on"), data.get("problem"), data.get("seen")
        return cls(
            datetime.fromisoformat(data["at"]), datetime.fromisoformat(data["on"]),
            datetime.fromisoformat(failed) if failed else None, Problem.read(problem) if problem else None,
            bool(data.get("failing")), datetime.fromisoformat(seen) if seen else None,
        )  # fmt: skip

    def to_data(self) -> dict[str, Any]:
        """Return it as it is stored."""
        data: dict[str, Any] = {"at": clean(self.at), "on": clean(self.on), "failing": self.failing}
        if self.failed_on is not None and self.problem is not None:
            data |= {"failed_on": clean(self.failed_on), "problem": self.problem.to_json()}
        return data if self.seen is None else data | {"seen": clean(self.seen)}

    def passed(self, at: datetime, on: datetime) -> datetime | None:
        """Return the moment since which time has passed unseen; None where it did not pass but was set.

        A clock that stands is moved by hand, and what lies between two of its places is no time that was missed.
        """
        if self.seen is None or at <= self.seen or at - self.at > on - self.on:
            return None
        return self.seen


async def looks(ledger: Ledger, organisation: Name) -> dict[Name, Looked]:
    """Return how the threshold sensors of an organisation looked last; those that never did are left out."""
    name = cursor_of(organisation)
    stored = await kept_cursor(ledger, name)
    data = (stored.data or {}) if stored is not None else {}
    return {sensor: Looked.of(told) for sensor, told in data.items()}


def cursor_of(organisation: Name) -> str:
    """Return the name under which that is stored."""
    return f"judged/{organisation}"


class Judging:
    """The threshold sensors of one organisation."""

    def __init__(
        self, ledger: Ledger, organisation: Name, definitions: Mapping[Name, SensorDefinition], sampling: Sampling
    ) -> None:
        self._ledger = ledger
        self._organisation = organisation
        self._definitions = definitions
        self._sampling = sampling
        self._looks: dict[Name, Looked] | None = None
        self._every: dict[Name, timedelta] = {}

    async def due(self, at: datetime, on: datetime) -> list[SensorDefinition]:
        """Return the sensors that are to look now.

        Args:
            at: the organisation's own time, which may stand.
            on: the clock of the server.
        """
        if self._looks is None:
            self._looks = await looks(self._ledger, self._organisation)
            self._every = {name: (await self._sampling.rate(name)).every for name in self._definitions}
        found = self._looks
        return [
            each
            for name, each in self._definitions.items()
            if name not in found or is_due(found[name], at, on, self._every[name].total_seconds())
        ]

    async def look(self, sensor: SensorDefinition, sensors: Sensors, at: datetime, on: datetime) -> SensorRun:
        """Let one sensor look, and remember that it did."""
        assert self._looks is not None, "it is asked first which sensors are due"
        before = self._looks.get(sensor.name)
        seen = before.passed(at, on) if before else None
        run = await sensors.run(sensor, at, seen=seen)
        if run.problem is not None:
            self._looks[sensor.name] = Looked(at, on, on, run.problem, failing=True, seen=seen)
        else:
            failed, problem = (before.failed_on, before.problem) if before else (None, None)
            self._looks[sensor.name] = Looked(at, on, failed, problem, seen=at)
            anomalies = [*run.signals, *(merged.signal for merged in run.merged)]
            firing = sum(signal.kind is SignalKind.THRESHOLD for signal in anomalies)
            rate = await self._sampling.looked(sensor.name, anomalies=firing, at=at)
            self._every[sensor.name] = rate.every
        return run

    async def save(self) -> None:
        """Store how they looked."""
        data = {name: looked.to_data() for name, looked in (self._looks or {}).items() if name in self._definitions}
        await self._ledger.append(cursors=[Cursor(cursor_of(self._organisation), 0, None, data)])


def is_due(looked: Looked, at: datetime, on: datetime, every_s: float) -> bool:
    """Whether a sensor is to look again; a clock that was set back counts as another moment."""
    since = (at - looked.at).total_seconds()
    return since >= every_s or since < 0 or (looked.failing and (on - looked.on).total_seconds() >= every_s)
