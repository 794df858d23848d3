"""The capability `explain`, declared: enough to check a plan that uses it, without the statistics behind it."""

from __future__ import annotations

from contracts import Grain, Parameter, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec

SPEC = CapabilitySpec(
    name="explain",
    kind="builtin_tool",
    description="Says whether a metric's value is unusual, and which slices or other metrics that is due to.",
    parameters={
        "metric": Parameter(type=ValueType.STRING, description="The metric that is explained."),
        "grain": Parameter(type=ValueType.STRING, choices=tuple(grain.value for grain in Grain)),
        "period": Parameter(type=ValueType.STRING, required=False, description="Local period; absent: the one now."),
        "where": Parameter(type=ValueType.OBJECT, required=False, description="Dimension and value of one slice."),
        "by": Parameter(
            type=ValueType.ARRAY, required=False, description="Dimensions to split by; absent: all that it has."
        ),
        "with": Parameter(
            type=ValueType.ARRAY, required=False, description="Other metrics that may go with this one, or before it."
        ),
        "compare": Parameter(
            type=ValueType.STRING, required=False, choices=("usual", "previous", "season"),
            description="What contributions are counted from: all earlier periods, the last, the same weekday or hour.",
        ),
        "last": Parameter(type=ValueType.INTEGER, required=False, description="Earlier periods that are looked at."),
        "lags": Parameter(
            type=ValueType.INTEGER, required=False, description="Periods that another metric may be ahead; 2."
        ),
        "at_least": Parameter(
            type=ValueType.INTEGER, required=False, description="Rows below which an earlier period is left out."
        ),
        "thresholds": Parameter(
            type=ValueType.OBJECT, required=False, description="Numbers of the rule that are not to be the usual ones."
        ),
    },
    gives={
        "verdict": "string",
        "statement": "string",
        "confidence": "string",
        "metric": "string",
        "unit": "string",
        "version": "string",
        "grain": "string",
        "period": "string",
        "value": {"type": ["number", "null"]},
        "n": "integer",
        "over": "boolean",
        "unusual": "boolean",
        "usual": {"type": ["object", "null"]},
        "excess": {"type": ["number", "null"]},
        "excess_rows": {"type": ["number", "null"]},
        "dimension": {"type": ["string", "null"]},
        "causes": "array",
        "driver": {"type": ["object", "null"]},
        "next": {"type": ["object", "null"]},
        "changes": "array",
        "splits": "array",
        "correlations": "array",
        "change_points": "array",
        "checks": "array",
        "correction": "string",
        "tested": "object",
        "anomaly": "object",
        "series": "array",
        "known_at": "string",
    },
    tier=Tier.EXECUTION,  # it reads data, and whoever reads data does it in a slot
)  # fmt: skip
"""What it is. The rule stands in `agents/cognition/explain`."""

WORDS_SPEC = CapabilitySpec(
    name="word_finding",
    kind="builtin_tool",
    description="States a finding in words. Numbers that the statistics did not give are refused.",
    parameters={
        "text": Parameter(type=ValueType.STRING, description="A few sentences, in the language of the order."),
        "finding": Parameter(
            type=ValueType.OBJECT, required=False, description="What `explain` or `attribute` gave; code fills it in."
        ),
    },
    gives={"text": "string", "confidence": {"type": ["string", "null"]}},
    tier=Tier.COGNITIVE,
    ends_step=True,
)
"""The words of a model about a finding, held against its numbers."""
