"""What commands and pages show of sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from console.views import ExecutionOutcome
from contracts import Json, Problem, Severity, Signal


@dataclass(frozen=True, slots=True)
class SensorFailed:
    """When something last went wrong with a sensor, and what."""

    at: datetime
    problem: Problem


@dataclass(frozen=True, slots=True)
class SensorRow:
    """One line of `silicon sensors list`."""

    name: str
    metric: str | None = None
    """What a threshold sensor watches."""
    grain: str | None = None
    by: tuple[str, ...] = ()
    when: str = ""
    in_a_row: int = 1
    severity: Severity = Severity.MEDIUM
    skill: str | None = None
    """The skill it raises."""
    clear_when: str | None = None
    """Of a threshold sensor: what ends an episode."""
    open_slices: tuple[str, ...] = ()
    """Slices with an episode that is not over; `all` is the whole."""
    recalibrated_at: datetime | None = None
    """When it last began anew, because its metric changed."""
    kind: str = "threshold"
    """`threshold`, `cron` or `event`."""
    watches: str = ""
    """Set times and their time zone, or types of events."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Of a cron sensor: what becomes of local times that are `skipped` and `repeated`, and of missed ones."""
    next_due: datetime | None = None
    """When it looks or speaks next; None where that is not known, or never."""
    last_run: datetime | None = None
    """When it last looked, or what it last spoke about."""
    last_failure: SensorFailed | None = None
    held_back: int = 0
    """How often an event did not wake it, because what it raises had led to it."""
    held_back_for: str = ""
    """Why, the last time."""


@dataclass(frozen=True, slots=True)
class Raised:
    """A signal, and the goal it raises."""

    signal: Signal
    goal: str = ""
    skill: str | None = None
    given: Mapping[str, Json] = field(default_factory=dict)
    unit: str = ""
    """Unit of the metric; `share` is a part of one."""
    execution: ExecutionOutcome | None = None
    """What came of it, when the goal was started."""


@dataclass(frozen=True, slots=True)
class SensorFailure:
    """A sensor that could not look this time, and why; told in every run, however often it failed before."""

    sensor: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class SensorsOutcome:
    """What one run of sensors noticed."""

    at: datetime
    sensors: int
    buckets: int
    """Periods looked at."""
    raised: tuple[Raised, ...] = ()
    merged: int = 0
    """Signals that were the same as one raised before."""
    failed: tuple[SensorFailure, ...] = ()
