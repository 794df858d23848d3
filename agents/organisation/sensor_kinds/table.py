"""The kinds of sensors by the key that tells each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from agents.cognition.sense.cron import CronDefinition
from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.event import EventDefinition
from agents.cognition.sense.kinds import AnySensor
from agents.organisation.declared import Declared, read_as
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds.check_threshold import threshold_faults
from agents.organisation.sensor_kinds.common import SensorFile
from agents.organisation.sensor_kinds.cron import CronFile, cron_faults
from agents.organisation.sensor_kinds.event import EventFile, event_faults
from agents.organisation.sensor_kinds.threshold import ThresholdFile
from agents.organisation.yaml_source import YamlSource
from contracts import Name


@dataclass(frozen=True, slots=True)
class SensorKind:
    """How one kind of sensor is read and checked."""

    does: str
    """What it does, as a hint tells it."""
    file: type[SensorFile]
    """What its file may say."""
    definition: type
    """What it is read as."""
    check: Callable[[Draft, Read[Any]], Iterator[Fault]]
    """What is wrong with one that was read, seen with the rest of the folder."""


KINDS: Mapping[str, SensorKind] = {
    "metric": SensorKind("watches a number", ThresholdFile, SensorDefinition, threshold_faults),
    "cron": SensorKind("speaks at set times", CronFile, CronDefinition, cron_faults),
    "on": SensorKind("listens to events", EventFile, EventDefinition, event_faults),
}
"""Key → kind. A file has exactly one of these keys."""


def read_sensor(name: Name, source: YamlSource) -> AnySensor | None:
    """Return the sensor of a file, or None after noting every fault in `source`."""
    if not isinstance(source.value, Mapping):
        read_as(Declared, source, source.value)  # it notes that these are no `key: value` lines
        return None
    told = [key for key in KINDS if key in source.value]
    if len(told) != 1:
        source.faults.append(_kind_fault(source, told))
        return None
    entry = read_as(KINDS[told[0]].file, source, source.value)
    return entry.definition(name) if entry is not None else None


def sensor_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with sensors that could be read."""
    for sensor in draft.sensors.values():
        for kind in KINDS.values():
            if isinstance(sensor.value, kind.definition):
                yield from kind.check(draft, sensor)


def _kind_fault(source: YamlSource, told: list[str]) -> Fault:
    if told:
        both = " and ".join(f"`{key}`" for key in told)
        return source.fault((told[1],), f"A sensor is of one kind; this one has {both}.", "Make a file for each.")
    near = {key: kind for key in source.value for kind in get_close_matches(str(key), KINDS, n=1)}
    if near:
        key, kind = next(iter(near.items()))
        return source.fault((key,), f"There is no field `{key}` here.", f"Did you mean `{kind}`?")
    there = ", ".join(f"`{key}:` {kind.does}" for key, kind in KINDS.items())
    return source.fault((), "Nothing says what this sensor watches.", f"There is: {there}.")
