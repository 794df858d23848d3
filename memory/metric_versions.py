"""The history of metrics in the ledger: each version of a definition, when it came into force, and what it changed.

A definition stands in a file; whoever reads the file first after a change records it, in the metric's own stream
(`metric/ORGANISATION/NAME`). The stream is the truth: nothing else keeps versions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts import Event, Json, Name, Sha256
from memory.metric_version import told
from memory.metrics import MetricRegistry
from runtime.canonical import clean
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

DEFINED, CHANGED, REMOVED = "metric.defined", "metric.changed", "metric.removed"
"""Events of a metric's stream."""
_TRIES = 5


class Entry(StrEnum):
    """What a version is."""

    DEFINED = "defined"
    """The first one, or the first after it was gone."""
    CHANGED = "changed"
    REMOVED = "removed"
    """The folder has it no more."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a definition that is not as it was; of a metric made of others also `parts`."""

    field: str
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class MetricVersion:
    """One version of one metric."""

    metric: Name
    entry: Entry
    version: Sha256 | None
    """Hash of the definition with those it is made of; None once it is removed."""
    formula: Sha256 | None
    """Hash of what its values follow from; while it stays the same, every value does."""
    in_force_since: datetime
    """UTC; when it was first read."""
    read_by: str
    """Whose command, or which server, read it."""
    changed: tuple[FieldChange, ...] = ()
    definition: Mapping[str, Json] | None = None
    recalibrates: bool = False
    """Whether its values are other ones, so that sensors that watch it begin anew."""
    sensors: tuple[Name, ...] = ()
    """Sensors that watched it then."""

    @classmethod
    def of(cls, event: Event) -> MetricVersion | None:
        """Return the version that an event tells of; None where it was erased."""
        data = event.data
        if data is None:
            return None
        changed = data.get("changed")
        return cls(
            metric=str(data["metric"]),
            entry=Entry(event.type.removeprefix("metric.")),
            version=_text(data.get("version")),
            formula=_text(data.get("formula")),
            in_force_since=datetime.fromisoformat(str(data["at"])),
            read_by=str(data["read_by"]),
            changed=tuple(_field(each) for each in changed) if isinstance(changed, list) else (),
            definition=data.get("definition"),  # type: ignore[arg-type]
            recalibrates=bool(data.get("recalibrates")),
            sensors=tuple(str(each) for each in data.get("sensors") or ()),  # type: ignore[union-attr]
        )


class MetricVersions:
    """The versions of the metrics of one organisation."""

    def __init__(self, ledger: Ledger, organisation: Name) -> None:
        self._ledger = ledger
        self._organisation = organisation

    async def note(
        self, registry: MetricRegistry, *, at: datetime, read_by: str, sensors: Mapping[Name, Sequence[Name]]
    ) -> list[MetricVersion]:
        """Record what changed since definitions were last read, and return it; what is as it was leaves no trace.

        Args:
            at: UTC; from when on the versions count.
            read_by: whose command or server read them.
            sensors: metric → sensors that watch it.
        """
        names = {*registry.names(), *await self._known()}
        noted = await asyncio.gather(
            *(self._note(registry, name, at, read_by, sensors.get(name, ())) for name in sorted(names))
        )
        return [version for version in noted if version is not None]

    async def history(self, name: Name) -> list[MetricVersion]:
        """Return the versions of a metric, oldest first."""
        found = [MetricVersion.of(event) for event in await self._ledger.read(self._stream(name))]
        return [version for version in found if version is not None]

    async def _note(
        self, registry: MetricRegistry, name: Name, at: datetime, read_by: str, sensors: Sequence[Name]
    ) -> MetricVersion | None:
        for _ in range(_TRIES):
            events = await self._ledger.read(self._stream(name))
            event = _event(registry, name, MetricVersion.of(events[-1]) if events else None)
            if event is None:
                return None
            event = NewEvent(event.type, {**event.data, "at": clean(at), "read_by": read_by, "sensors": list(sensors)})
            source = f"/organisation/{self._organisation}/metric/{name}"
            append = Append(self._stream(name), (event,), len(events), self._organisation, source)
            try:
                [stored] = await self._ledger.append(append)
            except VersionConflict:
                continue  # another process read the folder at the same time
            return MetricVersion.of(stored)
        raise VersionConflict(f"The metric {name} is noted by too many at once; try again.")

    async def _known(self) -> list[Name]:
        """Return the metrics that have a history."""
        prefix = self._stream("")
        return [stream.removeprefix(prefix) for stream in await self._ledger.streams("metric", prefix=prefix)]

    def _stream(self, name: str) -> str:
        return f"metric/{self._organisation}/{name}"


def _event(registry: MetricRegistry, name: Name, last: MetricVersion | None) -> NewEvent | None:
    """Return what is to be told of a metric whose last version that is; None where it still is."""
    there = name in registry.names()
    known = last is not None and last.entry is not Entry.REMOVED
    data: dict[str, Json] = {"metric": name}
    if not there:
        return NewEvent(REMOVED, data) if known else None
    version, formula = registry.version(name), registry.formula_version(name)
    definition = told(registry.get(name))
    data |= {"version": version, "formula": formula, "definition": definition}
    if last is None or not known:
        return NewEvent(DEFINED, data)
    if last.version == version:
        return None
    changes = changes_between(last.definition or {}, definition)
    if not changes:
        changes = [FieldChange("parts", last.version, version)]
    data["changed"] = [{"field": each.field, "before": each.before, "after": each.after} for each in changes]
    data["recalibrates"] = last.formula != formula
    return NewEvent(CHANGED, data)


def changes_between(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[FieldChange]:
    """Return what differs between two definitions, field by field; what a definition does not say is null."""
    fields = sorted({*before, *after})
    return [
        FieldChange(name, before.get(name), after.get(name)) for name in fields if before.get(name) != after.get(name)
    ]


def _field(value: Json) -> FieldChange:
    entry = value if isinstance(value, dict) else {}
    return FieldChange(str(entry.get("field")), entry.get("before"), entry.get("after"))


def _text(value: Json) -> str | None:
    return None if value is None else str(value)
