"""The versions of a metric: hashes of its definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from contracts import Json, MetricDefinition, Name, Sha256
from runtime.canonical import clean, sha256

Get: TypeAlias = Callable[[Name], MetricDefinition]

WORDS = frozenset({"title", "description", "owner", "good", "grains"})
"""What tells about a metric without changing any value of it."""


def version_of(metric: MetricDefinition, get: Get) -> Sha256:
    """Return the hash of a definition with those it is made of; `get` finds these."""
    return sha256({"definition": told(metric), "parts": [version_of(get(part), get) for part in metric.parts]})


def formula_version(metric: MetricDefinition, get: Get) -> Sha256:
    """Return the hash of what the values of a metric follow from."""
    formula = {name: value for name, value in told(metric).items() if name not in WORDS}
    return sha256({"formula": clean(formula), "parts": [formula_version(get(part), get) for part in metric.parts]})


def told(metric: MetricDefinition) -> dict[str, Json]:
    """Return what a definition says, whatever version of its contract says it."""
    said = _without_versions(metric.to_json())
    return said if isinstance(said, dict) else {}


def _without_versions(value: Any) -> Json:
    if isinstance(value, dict):
        return {name: _without_versions(inner) for name, inner in value.items() if name != "schema_version"}
    if isinstance(value, list):
        return [_without_versions(inner) for inner in value]
    return clean(value)
