"""What an organisation says about its alerts: `alerts.yaml` as values, with the settings where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from zoneinfo import ZoneInfo

from contracts import Name
from governance.alerts.maintenance import Maintenance
from governance.alerts.matching import Matcher
from governance.alerts.priority import Degree
from runtime.settings import AlertSettings


@dataclass(frozen=True, slots=True)
class Level:
    """Who is told, and how long after an alert began that nobody acknowledged."""

    to: tuple[Name, ...]
    """People or groups of org.yaml."""
    after: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Route:
    """What becomes of the alerts that it matches."""

    name: str
    match: Matcher = field(default_factory=Matcher)
    impact: Degree | None = None
    """How much depends on it; absent follows from the severity."""
    urgency: Degree | None = None
    """How soon it matters; absent follows from the severity."""
    group: tuple[str, ...] = ("source", "kind")
    """Labels: alerts that agree in them are told together."""
    wait: timedelta = timedelta(seconds=30)
    """How long the first of a group waits for others."""
    interval: timedelta = timedelta(minutes=5)
    """Least time between two messages about a group in which something is new."""
    repeat: timedelta = timedelta(hours=4)
    """After so long what is still open is told again."""
    levels: tuple[Level, ...] = ()
    """Whom it is told to, one after the other until somebody acknowledges it; nobody where there are none."""

    def group_of(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """Return what tells its groups apart."""
        return (self.name, *(labels.get(name, "") for name in self.group))


@dataclass(frozen=True, slots=True)
class Inhibition:
    """While an alert that `source` matches is open, those that `target` matches say nothing."""

    name: str
    source: Matcher
    target: Matcher
    equal: tuple[str, ...] = ()
    """Labels in which the two must agree."""


@dataclass(frozen=True, slots=True)
class Flapping:
    """When an alert goes on and off too often to be told each time, and when that is over."""

    window: timedelta = timedelta(hours=6)
    begins: int = 6
    """So many changes inside the window."""
    ends: int = 2
    """So few again; fewer than `begins`, so that flapping does not flap."""


@dataclass(frozen=True, slots=True)
class AlertRules:
    """Everything that decides what becomes of raw signals in one organisation."""

    zone: ZoneInfo = ZoneInfo("UTC")  # noqa: RUF009  (it does not change)
    routes: tuple[Route, ...] = ()
    """The first that matches takes an alert."""
    default: Route = Route("default")
    """For what no route takes."""
    inhibitions: tuple[Inhibition, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()
    flapping: Flapping = Flapping()
    deduplicate: timedelta = timedelta(minutes=30)
    """Signals with the same key inside this window are one."""
    resolve_after: timedelta = timedelta(hours=36)
    """An alert of which nothing was heard for so long is over."""
    silence_most: timedelta = timedelta(days=30)
    """The longest silence that can be made."""
    at_once: int = 10_000
    """Raw signals that go into one commit."""

    def route_for(self, labels: Mapping[str, str]) -> Route:
        """Return the route of an alert with these labels."""
        return next((route for route in self.routes if route.match.matches(labels)), self.default)


def rules_by(settings: AlertSettings, *, deduplicate_s: float, zone: ZoneInfo) -> AlertRules:
    """Return the rules of an organisation that says nothing about alerts: nobody is told, everything is listed."""
    return AlertRules(
        zone=zone,
        default=route_by(settings, "default"),
        flapping=Flapping(timedelta(seconds=settings.flap_window_s), settings.flap_begins, settings.flap_ends),
        deduplicate=timedelta(seconds=deduplicate_s),
        resolve_after=timedelta(seconds=settings.resolve_after_s),
        silence_most=timedelta(seconds=settings.silence_most_s),
        at_once=settings.signals_at_once,
    )


def route_by(settings: AlertSettings, name: str) -> Route:
    """Return a route that matches everything, with the waits of the settings."""
    return Route(
        name,
        wait=timedelta(seconds=settings.group_wait_s),
        interval=timedelta(seconds=settings.group_interval_s),
        repeat=timedelta(seconds=settings.repeat_s),
    )
