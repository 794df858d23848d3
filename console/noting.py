"""Notes what changed in the metrics of an organisation, and lets the sensors that watch them begin anew."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.cognition.sense import Sensors
from agents.organisation import Organisation
from console.alerting import rules_of
from console.asking import known_at
from contracts import Json, Name, Severity
from governance.access import EVERYTHING, Sight
from governance.alerts import Alerts
from governance.alerts.noted import Noted
from memory.metric_versions import Entry, MetricVersion, MetricVersions
from memory.metrics import MetricRegistry
from runtime.canonical import sha256
from runtime.clock import Clock
from runtime.errors import CapabilityFailed
from runtime.ledger.port import Store
from runtime.settings.load import Settings

CHANGED_KIND = "metric_changed"
"""Kind of the alert that a changed definition raises."""
_log = logging.getLogger(__name__)


class MetricNoting:
    """Of the organisations of one process; what was noted once is not looked at again until the folder changes."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._noted: dict[Name, str] = {}

    async def note(self, store: Store, organisation: Organisation, read_by: str) -> Sequence[MetricVersion]:
        """Record what changed since anybody read the folder last, tell it, and return it.

        Sensors begin anew before this returns; one that a crash left out does so by itself when it looks next.
        """
        registry = definitions_of(organisation)
        watching = {
            metric: [name for name, sensor in organisation.thresholds.items() if sensor.metric == metric]
            for metric in registry.names()
        }
        now = sha256({name: [registry.version(name), *watching[name]] for name in registry.names()})
        if self._noted.get(organisation.name) == now:
            return ()
        versions = MetricVersions(store.ledger, organisation.name)
        noted = await versions.note(registry, at=self._clock.now(), read_by=read_by, sensors=watching)
        sensors = Sensors(store, registry, self._settings.sensor, organisation.name)
        changed = [version for version in noted if version.entry is not Entry.DEFINED]
        for version in changed:
            await self._follow(version, organisation, sensors)
        if changed:
            await self._alert(store, organisation, changed)
        self._noted[organisation.name] = now
        return noted

    async def _follow(self, version: MetricVersion, organisation: Organisation, sensors: Sensors) -> None:
        begun = [name for name in version.sensors if version.recalibrates and name in organisation.thresholds]
        for name in begun:
            await sensors.recalibrate(organisation.thresholds[name], version.in_force_since)
        what = f"these begin anew: {', '.join(begun)}" if begun else "no sensor begins anew"
        _log.warning("the metric %s of %s %s; %s", version.metric, organisation.name, _words(version), what)

    async def _alert(self, store: Store, organisation: Organisation, changed: Sequence[MetricVersion]) -> None:
        """Raise an alert for each change, so that whoever is told of alerts is told of it."""
        at = known_at(organisation, None) or self._clock.now()
        alerts = Alerts(store, organisation.name, lambda: rules_of(organisation, self._settings))
        await alerts.note([_noted(version, at) for version in changed], at)


def _noted(version: MetricVersion, at: datetime) -> Noted:
    return Noted(
        source=f"metric/{version.metric}",
        kind=CHANGED_KIND,
        key=f"metric:{version.metric}:{version.version}:{version.in_force_since.isoformat()}",
        at=at,
        severity=Severity.MEDIUM if version.recalibrates else Severity.LOW,
        labels={"metric": version.metric},
        about=_words(version),
    )


def _words(version: MetricVersion) -> str:
    if version.entry is Entry.REMOVED:
        return "was removed"
    return f"changed ({', '.join(each.field for each in version.changed)})"


def definitions_of(organisation: Organisation, sight: Sight = EVERYTHING) -> MetricRegistry:
    """Return the metrics of an organisation that may be seen, to be compared; nothing can be read by them."""
    seen = [metric for metric in organisation.metrics.values() if sight.sees(metric.owner)]
    return MetricRegistry(seen, _nothing_is_asked, time_zone=organisation.time_zone)


async def _nothing_is_asked(connection: str, sql: str, parameters: dict[str, Json], known_at: datetime) -> Any:
    raise CapabilityFailed("Definitions are compared without reading any data.")
