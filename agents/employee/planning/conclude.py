"""Synthesis by a model: what came of a goal in a few sentences, with no number that the result does not hold."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Json, Parameter, Tier, ValueType
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.spoken_numbers import require_known

CONCLUDE = "state_result"
REACHED = ("yes", "partly", "no")

SPEC = CapabilitySpec(
    name=CONCLUDE,
    kind="builtin_tool",
    description="States what came of the goal. Numbers that do not stand in the result are refused.",
    parameters={
        "text": Parameter(type=ValueType.STRING, description="A few sentences, in the language of the order."),
        "reached": Parameter(
            type=ValueType.STRING, choices=REACHED, description="Whether the result is what the goal asks for."
        ),
        "result": Parameter(type=ValueType.ANY, required=False, description="What came of it; code fills it in."),
    },
    gives={"text": "string", "reached": "string"},
    tier=Tier.COGNITIVE,
    ends_step=True,
)


class StateResult:
    """Takes a conclusion only when each of its numbers stands in the result or the goal, rounded or as per cent."""

    spec = SPEC

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Return the conclusion; raise NumberInvented with the numbers that stand nowhere."""
        text = str(arguments["text"])
        require_known(text, arguments.get("result"), context.order.objective)
        return CallResult({"text": text, "reached": arguments["reached"]})
