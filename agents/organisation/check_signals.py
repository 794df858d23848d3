"""Metrics, sensors and rules: what they name exists, their conditions can be read, their examples come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from agents.cognition.sense.definition import SENSOR_VARIABLES, Raise, SensorDefinition
from agents.employee.parameters import passed_to
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import MetricDefinition, ValueType
from governance.policies import Policy, run_examples
from governance.policies.policy import VARIABLES
from runtime.bindings import BindingFault, reference_of, texts_of
from runtime.expressions import ExpressionFault, compile_condition

_OTHER_DATABASES = ("sqlite", "url")
"""Kinds of connection that can be queried, but not in the dialect that the SQL of metrics is written in."""
_RAISED = ("bucket", "value", "n", "metric", "sensor", "at", "dimensions")
"""What the bindings of a raised goal may name, beside the dimensions themselves."""


def signal_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with metrics, sensors and rules."""
    for metric in draft.metrics.values():
        yield from _metric_faults(draft, metric)
    for sensor in draft.sensors.values():
        yield from _sensor_faults(draft, sensor)
    for rule in draft.rules.values():
        yield from _rule_faults(draft, rule)


def _metric_faults(draft: Draft, metric: Read[MetricDefinition]) -> Iterator[Fault]:
    source = metric.value.source
    connection = draft.connections.get(source)
    if connection is not None and connection.value.kind in _OTHER_DATABASES:
        what = f"`{source}` is of the kind {connection.value.kind}; metrics can be read from duckdb only so far."
        yield metric.fault(("source",), what, "Make a DuckDB file of the data, or ask with a `query` step in a plan.")
    elif source not in draft.unread and f"{source}.query" not in draft.specs:
        queried = [name.removesuffix(".query") for name, spec in draft.specs.items() if spec.kind == "sql"]
        yield metric.fault(("source",), f"There is no database connection `{source}`.", nearest(source, queried))
    owner = metric.value.owner
    if draft.org is not None and owner not in draft.employees:
        yield metric.fault(("owner",), f"There is no employee `{owner}`.", nearest(owner, draft.employees))


def _sensor_faults(draft: Draft, sensor: Read[SensorDefinition]) -> Iterator[Fault]:
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
    if definition.raises is not None:
        yield from _raise_faults(draft, sensor, definition.raises)


def _fit_faults(sensor: Read[SensorDefinition], metric: MetricDefinition) -> Iterator[Fault]:
    grain = sensor.value.grain
    if grain not in metric.grains:
        there = ", ".join(known.value for known in metric.grains)
        yield sensor.fault(("grain",), f"`{metric.name}` has no grain {grain.value}.", f"There is: {there}.")
    for number, dimension in enumerate(sensor.value.by):
        if dimension not in metric.dimensions:
            hint = nearest(dimension, metric.dimensions)
            yield sensor.fault(("by", number), f"`{metric.name}` has no dimension `{dimension}`.", hint)


def _raise_faults(draft: Draft, sensor: Read[SensorDefinition], raises: Raise) -> Iterator[Fault]:
    there = {*_RAISED, *sensor.value.by}
    places: list[tuple[Path, object]] = [(("raises", "goal"), raises.goal)]
    places += [(("raises", "with", name), value) for name, value in raises.parameters.items()]
    for path, value in places:
        for text in texts_of(value):  # type: ignore[arg-type]
            yield from binding_fault(sensor, path, text, there)
    if raises.skill is None:
        return
    skill = draft.skills.get(raises.skill)
    if skill is None:
        hint = nearest(raises.skill, draft.skills)
        yield sensor.fault(("raises", "skill"), f"There is no skill `{raises.skill}`.", hint)
        return
    if skill.plan is None:
        return
    parameters = passed_to(skill.plan.value)
    for name in raises.parameters:
        if name not in parameters:
            what = f"The skill `{skill.name}` has no parameter `{name}`."
            yield sensor.fault(("raises", "with", name), what, nearest(name, parameters))
    for name, parameter in parameters.items():
        if parameter.must_be_given and name not in raises.parameters:
            yield sensor.fault(("raises", "with"), f"The skill `{skill.name}` needs `{name}` ({parameter.type.value}).")


def _rule_faults(draft: Draft, rule: Read[Policy]) -> Iterator[Fault]:
    policy = rule.value
    for number, pattern in enumerate(policy.applies_to):
        if not any(fnmatchcase(name, pattern) for name in draft.specs) and not draft.unread:
            yield rule.fault(
                ("applies_to", number), f"There is no capability `{pattern}`.", nearest(pattern, draft.specs)
            )
    broken = list(condition_fault(rule, ("allow_when",), policy.allow_when, VARIABLES))
    yield from broken
    if not broken:
        for fault in run_examples(policy):
            yield rule.fault(("examples", fault.index), fault.message)


def condition_fault(
    read: Read[SensorDefinition] | Read[Policy], path: Path, condition: str, variables: Mapping[str, ValueType]
) -> Iterator[Fault]:
    """Yield what is wrong with one condition."""
    try:
        compile_condition(condition, variables)
    except ExpressionFault as fault:
        at = f" (column {fault.column})" if fault.column > 1 else ""
        yield read.fault(path, f"`{condition}`: {fault.message}{at}")


def binding_fault(read: Read[SensorDefinition], path: Path, text: str, there: set[str]) -> Iterator[Fault]:
    """Yield what is wrong with the inside of one binding."""
    try:
        root = reference_of(text).root
    except BindingFault as fault:
        yield read.fault(path, str(fault))
        return
    if root not in there:
        yield read.fault(path, f"There is no `{root}` to put into `{{{{ {text} }}}}`.", nearest(root, there))
