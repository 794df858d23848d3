"""A threshold sensor fits its metric, and its conditions can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.cognition.sense.baseline import PERIODS
from agents.cognition.sense.definition import BASELINE_VARIABLES, SENSOR_VARIABLES, SensorDefinition
from agents.organisation.conditions import condition_fault
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds.common import raise_faults
from contracts import MetricDefinition, ValueType
from memory.buckets import MOST_BUCKETS
from runtime.expressions import names_in
from runtime.settings.groups import SensorSettings

_RAISED = ("bucket", "value", "n", "metric", "sensor", "at", "dimensions")
"""What the bindings of a raised goal may name, beside the dimensions themselves."""


def threshold_faults(draft: Draft, sensor: Read[SensorDefinition]) -> Iterator[Fault]:
    """Yield what is wrong with one threshold sensor."""
    definition = sensor.value
    metric = draft.metrics.get(definition.metric)
    if metric is None and f"metrics/{definition.metric}.yaml" in draft.files.names():
        pass  # it could not be read and has its own fault
    elif metric is None:
        hint = nearest(definition.metric, draft.metrics)
        yield sensor.fault(("metric",), f"There is no metric `{definition.metric}`.", hint)
    else:
        yield from _fit_faults(sensor, metric.value)
    for field, condition, variables in (
        ("when", definition.when, definition.variables),
        ("clear_when", definition.clear_when, definition.variables),
        ("pass_over", definition.pass_over, SENSOR_VARIABLES),
    ):
        if condition is not None:
            yield from _condition_faults(sensor, field, condition, variables)
    yield from _episode_faults(sensor)
    yield from _baseline_faults(sensor)
    yield from raise_faults(draft, sensor, {*_RAISED, *definition.by})


def _fit_faults(sensor: Read[SensorDefinition], metric: MetricDefinition) -> Iterator[Fault]:
    grain = sensor.value.grain
    if grain not in metric.grains:
        there = ", ".join(known.value for known in metric.grains)
        yield sensor.fault(("grain",), f"`{metric.name}` has no grain {grain.value}.", f"There is: {there}.")
    for number, dimension in enumerate(sensor.value.by):
        if dimension not in metric.dimensions:
            hint = nearest(dimension, metric.dimensions)
            yield sensor.fault(("by", number), f"`{metric.name}` has no dimension `{dimension}`.", hint)


def _condition_faults(
    sensor: Read[SensorDefinition], field: str, condition: str, variables: Mapping[str, ValueType]
) -> Iterator[Fault]:
    usual = sorted({path[0] for path in names_in(condition)} & (BASELINE_VARIABLES.keys() - variables.keys()))
    if not usual:
        yield from condition_fault(sensor, (field,), condition, variables)
    elif field == "pass_over":
        what = f"`pass_over` cannot name `{usual[0]}`: what is passed over is no part of what is usual."
        yield sensor.fault((field,), what)
    else:
        what = f"`{usual[0]}` needs a baseline to follow from."
        yield sensor.fault((field,), what, "Write for example `baseline: {season: week, history: 56d, deviates: 3}`.")


def _episode_faults(sensor: Read[SensorDefinition]) -> Iterator[Fault]:
    definition = sensor.value
    if definition.clear_when is not None and definition.merge_gap_s is not None:
        what = "An episode ends by `clear_when` or by `merge_gap`, not by both."
        yield sensor.fault(("merge_gap",), what, "Keep one of them.")
    if definition.clear_when is not None and definition.clear_when == definition.when:
        yield sensor.fault(("clear_when",), "`clear_when` is the same as `when`: an episode would never end.")


def _baseline_faults(sensor: Read[SensorDefinition]) -> Iterator[Fault]:
    usual, grain = sensor.value.usual, sensor.value.grain
    if usual is None:
        return
    if usual.season is not None and (usual.season, grain) not in PERIODS:
        fitting = ", ".join(season.value for season, of in PERIODS if of is grain)
        what = f"A {grain.value} has no place in a {usual.season.value} that repeats itself."
        yield sensor.fault(("baseline", "season"), what, f"By the {grain.value} there is: {fitting or 'none'}.")
        return
    needed, spans = usual.values_needed(grain, SensorSettings()), usual.buckets(grain)
    if spans < needed:
        what = f"The history holds {spans} periods; what is usual follows from {needed} at least."
        yield sensor.fault(("baseline", "history"), what, f"Make it {needed} {grain.value}s or longer.")
    elif spans >= MOST_BUCKETS:
        yield sensor.fault(("baseline", "history"), f"The history holds {spans:,} periods; {MOST_BUCKETS:,} are read.")
