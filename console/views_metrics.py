"""A metric with its versions, as faces show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import Json, MetricDefinition


@dataclass(frozen=True, slots=True)
class MetricChangeRow:
    """One field that is not as it was."""

    field: str
    """Of the definition; `parts` where a metric that it is made of changed."""
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class MetricVersionRow:
    """One version of a metric."""

    entry: str
    """`defined`, `changed` or `removed`."""
    version: str | None
    """Hash of the definition; None once it is removed."""
    in_force_since: datetime
    read_by: str
    """Whose command, or which server, read it first."""
    changed: Sequence[MetricChangeRow] = ()
    recalibrates: bool = False
    """Whether its values are other ones, so that sensors that watch it began anew."""
    sensors: Sequence[str] = ()
    """Those sensors, as they were then."""


@dataclass(frozen=True, slots=True)
class MetricShown:
    """The definition of a metric with where it stands."""

    definition: MetricDefinition
    version: str
    in_force_since: datetime
    read_by: str
    versions: int
    """How many there were, this one included."""
    sensors: Sequence[str] = ()
    """Sensors that watch it."""
