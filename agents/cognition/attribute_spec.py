"""The capability `attribute`, declared: enough to check a plan that uses it, without the statistics behind it."""

from __future__ import annotations

from contracts import Effect, Parameter, Tier, ValueType
from runtime.capabilities.port import CapabilitySpec

SPEC = CapabilitySpec(
    name="attribute",
    kind="builtin_tool",
    description="Says whether an excess is due to a known condition, to one slice, or to nothing the data show.",
    parameters={
        "rows": Parameter(
            type=ValueType.ARRAY,
            description="Cells: `n`, `hits`, `condition` (present, absent, unknown) and the keys they were cut by.",
        ),
        "history": Parameter(
            type=ValueType.OBJECT, description="`periods` counted before this one, and their median rate `usual_rate`."
        ),
        "usual_odds": Parameter(
            type=ValueType.ARRAY, description="For each slice: `dimension`, `value`, `usual_odds`, `periods`."
        ),
        "slices": Parameter(
            type=ValueType.OBJECT, description="Dimension → keys of the strata it is compared in, preferred first."
        ),
        "site": Parameter(type=ValueType.STRING, description="Key of the place where the condition is measured."),
        "words": Parameter(
            type=ValueType.OBJECT, required=False,
            description="Verdict → the skill's own word for it, as in {condition: weather}.",
        ),
        "names": Parameter(
            type=ValueType.OBJECT, required=False,
            description="How the statement says it, one text or one for each language: `unit` (flights), `hit` "
            "(cancelled), `condition` (bad weather), and dimensions.",
        ),
        "thresholds": Parameter(
            type=ValueType.OBJECT, required=False, description="Numbers of the rule that are not to be the usual ones."
        ),
    },
    gives={
        "verdict": "string",
        "statement": "string",
        "confidence": "string",
        "n": "integer",
        "hits": "integer",
        "rate": {"type": ["number", "null"]},
        "usual_rate": "number",
        "excess": "number",
        "unusual": "boolean",
        "causes": "array",
        "also": "array",
        "condition": {"type": ["object", "null"]},
        "rest_n": "integer",
        "rest_hits": "integer",
        "reasons": "array",
    },
    effect=Effect.READ,
    tier=Tier.COGNITIVE,
)  # fmt: skip
"""What it is. The rule stands in `agents/cognition/reason`."""
