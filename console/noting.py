"""Notes what changed in the metrics of an organisation, and lets the sensors that watch them begin anew."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.cognition.sense import Sensors
from agents.organisation import Organisation
from contracts import Json, Name
from memory.metric_versions import Entry, MetricVersion, MetricVersions
from memory.metrics import MetricRegistry
from runtime.canonical import sha256
from runtime.clock import Clock
from runtime.errors import CapabilityFailed
from runtime.ledger.port import Store
from runtime.settings.load import Settings

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
        for version in noted:
            await self._follow(version, organisation, sensors)
        self._noted[organisation.name] = now
        return noted

    async def _follow(self, version: MetricVersion, organisation: Organisation, sensors: Sensors) -> None:
        if version.entry is not Entry.CHANGED:
            return
        fields = ", ".join(each.field for each in version.changed)
        begun = [name for name in version.sensors if version.recalibrates and name in organisation.thresholds]
        for name in begun:
            await sensors.recalibrate(organisation.thresholds[name], version.in_force_since)
        what = f"these begin anew: {', '.join(begun)}" if begun else "no sensor begins anew"
        _log.warning("the metric %s of %s changed (%s); %s", version.metric, organisation.name, fields, what)


def definitions_of(organisation: Organisation) -> MetricRegistry:
    """Return the metrics of an organisation, to be compared; nothing can be read by them."""
    return MetricRegistry(organisation.metrics.values(), _nothing_is_asked, time_zone=organisation.time_zone)


async def _nothing_is_asked(connection: str, sql: str, parameters: dict[str, Json], known_at: datetime) -> Any:
    raise CapabilityFailed("Definitions are compared without reading any data.")
