"""A threshold sensor fits its metric, and its conditions can be read."""

from __future__ import annotations

from collections.abc import Iterator

from agents.cognition.sense.definition import SENSOR_VARIABLES, SensorDefinition
from agents.organisation.conditions import condition_fault
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds.common import raise_faults
from contracts import MetricDefinition

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
    for field, condition in (("when", definition.when), ("pass_over", definition.pass_over)):
        if condition is not None:
            yield from condition_fault(sensor, (field,), condition, SENSOR_VARIABLES)
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
