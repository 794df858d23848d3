"""What `alerts.yaml` may say: who is told what, what explains what, and when nothing is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, model_validator

from agents.organisation.declared import Declared, Duration, one_or_more
from contracts import Name
from governance.alerts import AlertRules, Degree, Flapping, Inhibition, Level, Matcher, Route, rules_by
from governance.alerts.maintenance import DAYS, Cron, Dated, Maintenance, Weekly, When
from governance.alerts.rules import route_by
from memory.buckets import year_fault
from runtime.settings import AlertSettings, SensorSettings

_Several = BeforeValidator(one_or_more)
_Match = dict[str, Annotated[tuple[str, ...], _Several]]
"""Label → what it must be: one of these, `*` for any part."""


def _matcher(wanted: _Match) -> Matcher:
    return Matcher({name: tuple(patterns) for name, patterns in wanted.items()})


class LevelEntry(Declared):
    """Whom an alert is told to, and when."""

    to: Annotated[tuple[Name, ...], _Several] = Field(min_length=1)
    """People or groups of org.yaml."""
    after: Duration = Field(default=0.0, ge=0)
    """Time since the alert began without anybody acknowledging it."""


class RouteEntry(Declared):
    """What becomes of the alerts that it matches; the first route that does takes an alert."""

    name: Name
    """Its key."""
    match: _Match = Field(default={})
    """Which alerts; absent means all."""
    impact: Degree | None = None
    """How much depends on them; absent follows from the severity."""
    urgency: Degree | None = None
    """How soon they matter; absent follows from the severity."""
    group: Annotated[tuple[str, ...], _Several] = ("source", "kind")
    """Labels; alerts that agree in them are told together."""
    wait: Duration | None = None
    """How long the first of a group waits for others."""
    interval: Duration | None = None
    """Least time between two messages about a group."""
    repeat: Duration | None = Field(default=None, gt=0)
    """When what is still open is told again."""
    tell: tuple[LevelEntry, ...] = ()
    """Whom, one level after the other until somebody acknowledges it."""

    def route(self, settings: AlertSettings) -> Route:
        """Return it as alerts take it."""
        by = route_by(settings, self.name)
        return replace(
            by,
            match=_matcher(self.match),
            impact=self.impact,
            urgency=self.urgency,
            group=self.group,
            wait=by.wait if self.wait is None else timedelta(seconds=self.wait),
            interval=by.interval if self.interval is None else timedelta(seconds=self.interval),
            repeat=by.repeat if self.repeat is None else timedelta(seconds=self.repeat),
            levels=tuple(Level(level.to, timedelta(seconds=level.after)) for level in self.tell),
        )


class InhibitEntry(Declared):
    """While an alert is open, others say nothing."""

    name: Name
    """Its key; every alert that it hushes names it."""
    while_: _Match = Field(alias="while", min_length=1)
    """The alert that explains the others."""
    hush: _Match = Field(min_length=1)
    """Those that say nothing meanwhile."""
    equal: Annotated[tuple[str, ...], _Several] = ()
    """Labels in which the two must agree."""

    def inhibition(self) -> Inhibition:
        """Return it as alerts take it."""
        return Inhibition(self.name, _matcher(self.while_), _matcher(self.hush), self.equal)


def _clock(value: object) -> object:
    """Return the time of day in `02:00`."""
    try:
        moment = time.fromisoformat(value.zfill(5)) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise ValueError(f"a time of day is written as 02:00, not {value!r}")
    return moment


def _edge(value: object) -> object:
    """Return the local moment in `2013-02-10T00:00`, or the time of day in `02:00`."""
    if not isinstance(value, str) or "T" not in value:
        return _clock(value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"a local moment is written as 2013-02-10T00:00, not {value!r}") from None
    if moment.tzinfo is not None:
        raise ValueError(f"{value!r} has a zone; write local time of the organisation, such as 2013-02-10T00:00")
    fault = year_fault(moment)
    if fault is not None:
        raise ValueError(fault)
    return moment


_Edge = Annotated[datetime | time, BeforeValidator(_edge)]


class MaintenanceEntry(Declared):
    """A time in which alerts are expected: dated, by the week, or by a cron expression."""

    name: Name
    """Its key; every alert that it hushes names it."""
    match: _Match = Field(default={})
    """Which alerts; absent means all."""
    days: Annotated[tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], _Several] = DAYS  # type: ignore[assignment]
    """Days on which it begins."""
    from_: _Edge | None = Field(default=None, alias="from")
    """When it begins: `22:00` each such day, or `2013-02-10T00:00` once."""
    to: _Edge | None = None
    """When it ends, written alike."""
    cron: str | None = None
    """When it begins, as a cron expression on the organisation's clock."""
    lasts: Duration | None = Field(default=None, alias="for", gt=0)
    """How long it lasts then, in real time."""
    reason: str = ""
    """Why, for people."""

    @model_validator(mode="after")
    def _is_one_of_them(self) -> MaintenanceEntry:
        self.when()
        return self

    def when(self) -> When:
        """Return its times; raise ValueError where they are no times."""
        if self.cron is not None and self.lasts is not None and self.from_ is None and self.to is None:
            return Cron(_checked_cron(self.cron), timedelta(seconds=self.lasts))
        if self.cron is not None or self.lasts is not None or self.from_ is None or self.to is None:
            raise ValueError("a maintenance has `from` and `to`, or `cron` and `for`")
        if isinstance(self.from_, datetime) and isinstance(self.to, datetime):
            if self.to <= self.from_:
                raise ValueError(f"it ends at {self.to:%Y-%m-%dT%H:%M}, which is not after it begins")
            return Dated(self.from_, self.to)
        if isinstance(self.from_, datetime) or isinstance(self.to, datetime):
            raise ValueError("`from` and `to` are both times of the day, or both moments with a date")
        if self.from_ == self.to:
            raise ValueError(f"it begins and ends at {self.to:%H:%M}; write 00:00 to 00:00 as two halves of the day")
        return Weekly(self.from_, self.to, frozenset(map(DAYS.index, self.days)))

    def maintenance(self) -> Maintenance:
        """Return it as alerts take it."""
        return Maintenance(self.name, _matcher(self.match), self.when(), self.reason)


def _checked_cron(expression: str) -> str:
    from cronsim import CronSim, CronSimError  # only who writes one pays for it

    try:
        CronSim(expression, datetime(2000, 1, 1))
    except CronSimError as error:
        raise ValueError(f"`{expression}` is no cron expression: {error}") from None
    return expression


class FlappingEntry(Declared):
    """When an alert goes on and off too often to be told each time."""

    window: Duration | None = Field(default=None, gt=0)
    """How far it is looked back."""
    begins: int | None = Field(default=None, ge=2, le=100)
    """So many changes inside the window."""
    ends: int | None = Field(default=None, ge=0)
    """So few again."""

    @model_validator(mode="after")
    def _has_a_gap(self) -> FlappingEntry:
        settings = AlertSettings()
        begins, ends = self.begins or settings.flap_begins, settings.flap_ends if self.ends is None else self.ends
        if ends >= begins:
            raise ValueError(f"flapping ends at {ends} changes, which is not less than the {begins} at which it begins")
        return self


class AlertsFile(Declared):
    """The whole file; what it leaves out follows from the settings."""

    deduplicate: Duration | None = None
    """Signals with the same key inside this time are one."""
    resolve_after: Duration | None = Field(default=None, gt=0)
    """An alert of which nothing was heard for so long is over."""
    routes: tuple[RouteEntry, ...] = ()
    """Who is told what; the first that matches takes an alert."""
    inhibit: tuple[InhibitEntry, ...] = ()
    """What explains what."""
    maintenance: tuple[MaintenanceEntry, ...] = ()
    """When nothing is told."""
    flapping: FlappingEntry = FlappingEntry()
    """When an alert goes on and off too often."""

    def rules(self, alerts: AlertSettings, sensor: SensorSettings, zone: ZoneInfo) -> AlertRules:
        """Return it as alerts take it."""
        by = rules_by(alerts, deduplicate_s=sensor.deduplicate_s, zone=zone)
        flapping = self.flapping
        return replace(
            by,
            routes=tuple(entry.route(alerts) for entry in self.routes),
            inhibitions=tuple(entry.inhibition() for entry in self.inhibit),
            maintenance=tuple(entry.maintenance() for entry in self.maintenance),
            deduplicate=_or(self.deduplicate, by.deduplicate),
            resolve_after=_or(self.resolve_after, by.resolve_after),
            flapping=Flapping(
                _or(flapping.window, by.flapping.window),
                flapping.begins or by.flapping.begins,
                by.flapping.ends if flapping.ends is None else flapping.ends,
            ),
        )

    def matches(self) -> Mapping[tuple[str | int, ...], _Match]:
        """Return every match of the file by its place in it."""
        found: dict[tuple[str | int, ...], _Match] = {}
        for number, route in enumerate(self.routes):
            found["routes", number, "match"] = route.match
        for number, rule in enumerate(self.inhibit):
            found["inhibit", number, "while"], found["inhibit", number, "hush"] = rule.while_, rule.hush
        for number, window in enumerate(self.maintenance):
            found["maintenance", number, "match"] = window.match
        return found


def _or(seconds: float | None, otherwise: timedelta) -> timedelta:
    return otherwise if seconds is None else timedelta(seconds=seconds)
