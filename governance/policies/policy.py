"""One policy: words for people and prompts, a condition for the gate, and examples that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from contracts import CapabilityName, Effect, Json, Name, Text, ValueType
from runtime.capabilities.port import EffectRequest
from runtime.expressions import ExpressionFailed, ExpressionFault, compile_condition

VARIABLES: Mapping[str, ValueType] = {
    "use": ValueType.STRING,
    "arguments": ValueType.OBJECT,
    "effect": ValueType.STRING,
    "facts": ValueType.OBJECT,
}
"""What a condition may name. `facts` holds employee, skill, requested_by, known_at, context and inputs."""


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """An effect as a policy sees it."""

    use: CapabilityName
    arguments: Mapping[str, Json] = field(default_factory=dict)
    effect: Effect = Effect.WRITE
    facts: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, request: EffectRequest) -> PolicyRequest:
        """Return the request at the gate in the terms of policies."""
        order = request.order
        facts: dict[str, Json] = {
            "employee": order.employee,
            "skill": order.skill,
            "requested_by": order.requested_by,
            "known_at": order.known_at.isoformat() if order.known_at else None,
            "context": order.context,
            "inputs": order.inputs,
        }
        return cls(request.spec.name, request.arguments, request.spec.effect, facts)

    def values(self) -> dict[str, Json]:
        """Return the variables of a condition."""
        return {
            "use": self.use,
            "arguments": dict(self.arguments),
            "effect": self.effect.value,
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, slots=True)
class PolicyExample:
    """A case whose answer is known; the policy must give it."""

    request: PolicyRequest
    allowed: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A policy's no to a request."""

    why: str
    fault: str = ""
    """Why the condition could not be worked out, where it could not; what nobody could check was not allowed."""


@dataclass(frozen=True, slots=True)
class ExampleFault:
    """An example that the policy answers differently."""

    index: int
    """Which, from 0."""
    message: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Something that must hold whenever a capability in its scope changes the world."""

    name: Name
    text: Text
    """What is told to people, and to models."""
    allow_when: str
    """Condition over `use`, `arguments`, `effect` and `facts`; the effect may happen only where it is true."""
    applies_to: Sequence[str] = ()
    """Capabilities, with `*` for any part of a name; empty means all."""
    examples: Sequence[PolicyExample] = ()

    def covers(self, use: str) -> bool:
        """Whether the capability is in its scope."""
        return not self.applies_to or any(fnmatchcase(use, pattern) for pattern in self.applies_to)

    def why_refused(self, request: PolicyRequest) -> str | None:
        """Return why the request may not go on, or None when it may."""
        refusal = self.refusal_of(request)
        return None if refusal is None else refusal.why

    def refusal_of(self, request: PolicyRequest) -> Refusal | None:
        """Return the no to the request, or None when it may go on.

        A condition that cannot be worked out refuses: what nobody could check was not allowed.
        """
        if not self.covers(request.use):
            return None
        try:
            held = compile_condition(self.allow_when, VARIABLES).holds(request.values())
        except (ExpressionFailed, ExpressionFault) as error:
            fault = error.message.rstrip(".")
            return Refusal(f"its condition could not be checked: {fault}", fault)
        return None if held else Refusal(f"`{self.allow_when}` does not hold")


def run_examples(policy: Policy) -> list[ExampleFault]:
    """Return the examples that the policy does not answer as they say, and those outside its scope."""
    faults: list[ExampleFault] = []
    for index, example in enumerate(policy.examples):
        use = example.request.use
        if not policy.covers(use):
            faults.append(ExampleFault(index, f"The example uses {use}, to which {policy.name} does not apply."))
            continue
        reason = policy.why_refused(example.request)
        if (reason is None) == example.allowed:
            continue
        named = f'The example "{example.why}"' if example.why else f"Example {index + 1}"
        if example.allowed:
            faults.append(ExampleFault(index, f"{named} should be allowed but the rule refuses it: {reason}."))
        else:
            faults.append(ExampleFault(index, f"{named} should be refused but the rule lets it pass."))
    return faults
