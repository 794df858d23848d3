"""Metrics: their source and owner exist, their Python has its function, and those made of others fit them."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.metric_files import FOLDER, python_files_unread
from contracts import MetricDefinition, Name
from memory.metric_python import faults_of


def metric_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with metrics that could be read."""
    for metric in draft.metrics.values():
        if metric.value.source is not None:
            yield from _source_faults(draft, metric, metric.value.source)
        else:
            yield from _part_faults(draft, metric)
        if metric.value.python is not None and metric.value.python.text:
            for line, what in faults_of(metric.value.python, list(metric.value.takes)):
                yield Fault(metric.value.python.file, line, what)
        owner = metric.value.owner
        if draft.org is not None and owner not in draft.employees:
            yield metric.fault(("owner",), f"There is no employee `{owner}`.", nearest(owner, draft.employees))
    yield from python_files_unread(draft)


def _source_faults(draft: Draft, metric: Read[MetricDefinition], source: Name) -> Iterator[Fault]:
    connection = draft.connections.get(source)
    if connection is not None and connection.value.kind == "sqlite" and metric.value.python is not None:
        what = f"`{source}` is of the kind sqlite, which cannot give a Python function its rows in order."
        yield metric.fault(("source",), what, "Read it from DuckDB or PostgreSQL, or write its value in SQL.")
    elif source not in draft.unread and f"{source}.query" not in draft.specs:
        queried = [name.removesuffix(".query") for name, spec in draft.specs.items() if spec.kind == "sql"]
        yield metric.fault(("source",), f"There is no database connection `{source}`.", nearest(source, queried))


def _part_faults(draft: Draft, metric: Read[MetricDefinition]) -> Iterator[Fault]:
    definition = metric.value
    key = definition.formula.value
    for field, name in zip(("of", "to"), definition.parts, strict=False):
        part = draft.metrics.get(name)
        if part is None:
            if f"{FOLDER}/{name}.yaml" not in draft.files.names():  # else it could not be read and has its own fault
                yield metric.fault((key, field), f"There is no metric `{name}`.", nearest(name, draft.metrics))
            continue
        for number, grain in enumerate(definition.grains):
            if grain not in part.value.grains:
                yield metric.fault(("grains", number), f"`{name}` has no grain {grain.value}.")
        for dimension, there in definition.dimensions.items():
            if there not in part.value.dimensions:
                hint = nearest(there, part.value.dimensions)
                yield metric.fault(("dimensions", dimension), f"`{name}` has no dimension `{there}`.", hint)
    if _comes_back(draft, definition.name, definition.parts):
        yield metric.fault((key,), "This metric is made of itself.", "Take it out of one of those it is made of.")
    if definition.window is not None and (definition.window.at_least or 0) > definition.window.last:
        yield metric.fault((key, "at_least"), "`at_least` is more than `last`; that never happens.")


def _comes_back(draft: Draft, name: Name, parts: tuple[Name, ...]) -> bool:
    seen: set[Name] = set()
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if part == name:
            return True
        if part not in seen and part in draft.metrics:
            seen.add(part)
            waiting += draft.metrics[part].value.parts
    return False
