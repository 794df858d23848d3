"""Metrics, sensors and rules: what they name exists, their conditions can be read, their examples come out."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from agents.organisation.conditions import condition_fault
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds import sensor_faults
from contracts import MetricDefinition
from governance.policies import Policy, run_examples
from governance.policies.policy import VARIABLES

_OTHER_DATABASES = ("sqlite", "url")
"""Kinds of connection that can be queried, but not in the dialect that the SQL of metrics is written in."""


def signal_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with metrics, sensors and rules."""
    for metric in draft.metrics.values():
        yield from _metric_faults(draft, metric)
    yield from sensor_faults(draft)
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
