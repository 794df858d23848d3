"""What an option promises of a metric, bound and completed from the registry: unit, definition, moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pydantic import ValidationError

from agents.cognition.advise.options import OptionTemplate
from contracts import Expectation, Grain, Json
from memory import buckets
from memory.metrics import MetricRegistry
from runtime.bindings import resolve
from runtime.errors import InvalidArguments
from runtime.plain_words import in_plain_words

EXPECTS = ("metric", "grain", "period", "baseline", "change", "low", "high")
"""What an expectation has to say; `where` and `level` may stand beside."""
MAY = ("where", "level")

Promised: TypeAlias = Mapping[str, Expectation]
"""Option → what it promises; options that promise nothing are left out."""


def expectation_of(
    option: OptionTemplate, roots: Mapping[str, Json], registry: MetricRegistry | None
) -> Expectation | None:
    """Return what the option promises; None where it promises nothing, or its binding gives nothing.

    Raises:
        InvalidArguments: something is missing or is no number, or there is no such metric.
    """
    given = resolve(option.expects, roots) if option.expects is not None else None
    if given is None or registry is None:
        return None
    place = f"`expects` of the option {option.id}"
    if not isinstance(given, dict):
        raise InvalidArguments(f"{place} is an object with {', '.join(EXPECTS)}, not {given!r}.", option=option.id)
    missing = [name for name in EXPECTS if given.get(name) is None]
    odd = [name for name in given if name not in (*EXPECTS, *MAY)]
    if missing or odd:
        what = f"lacks {', '.join(missing)}" if missing else f"has no field {', '.join(odd)}"
        raise InvalidArguments(f"{place} {what}; it takes {', '.join((*EXPECTS, *MAY))}.", option=option.id)
    metric = registry.get(str(given["metric"]))
    if given["grain"] not in metric.grains:
        raise InvalidArguments(f"{place}: {metric.name} is not read by {given['grain']}.", option=option.id)
    grain = Grain(str(given["grain"]))
    start = buckets.from_text(str(given["period"]), grain)
    try:
        return Expectation.model_validate(
            {
                **given,
                "metric_version": registry.formula_version(metric.name),
                "unit": metric.unit,
                "period": buckets.to_text(start, grain),
                "starts_at": buckets.to_utc(start, registry.zone),
                "ends_at": buckets.to_utc(buckets.next_start(start, grain), registry.zone),
            }
        )
    except ValidationError as error:
        faults = "; ".join(in_plain_words(fault) for fault in error.errors())
        raise InvalidArguments(f"{place} cannot be used: {faults}.", option=option.id) from None
