"""One policy: words for people and prompts, a condition for the gate, and examples that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property

from contracts import CapabilityName, Effect, Json, Name, TaskOrder, Text, ValueType
from runtime.canonical import sha256
from runtime.capabilities.port import CapabilitySpec, EffectRequest
from runtime.capabilities.router import fitting
from runtime.errors import InvalidArguments
from runtime.expressions import ExpressionFailed, ExpressionFault, compile_condition

VARIABLES: Mapping[str, ValueType] = {
    "use": ValueType.STRING,
    "arguments": ValueType.OBJECT,
    "effect": ValueType.STRING,
    "facts": ValueType.OBJECT,
}
"""What a condition may name. `facts` holds employee, departments, skill, requested_by, known_at, context and inputs."""


class Harm(StrEnum):
    """What comes of it where a rule is broken."""

    DAMAGES_DATA = "damages_data"
    STOPS_SERVICE = "stops_service"
    FAILS_SILENTLY = "fails_silently"
    INCONVENIENT = "inconvenient"
    """Nothing worse than trouble: the only kind of rule that may do without a condition."""


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """An action as a policy sees it."""

    use: CapabilityName
    arguments: Mapping[str, Json] = field(default_factory=dict)
    effect: Effect = Effect.WRITE
    facts: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, request: EffectRequest) -> PolicyRequest:
        """Return the request at the gate in the terms of policies, defaults filled in as the call will have them."""
        try:
            arguments: Mapping[str, Json] = fitting(request.spec, request.arguments)
        except InvalidArguments:  # the call itself tells what is wrong with them
            arguments = request.arguments
        return cls.made_by(request.order, request.spec, arguments)

    @classmethod
    def made_by(cls, order: TaskOrder, spec: CapabilitySpec, arguments: Mapping[str, Json]) -> PolicyRequest:
        """Return a call for an order in the terms of policies; its effect is the one that the capability declares."""
        facts: dict[str, Json] = {
            "employee": order.employee,
            "departments": [*dict.fromkeys((*(above.employee for above in order.chain), order.employee))],
            "skill": order.skill,
            "requested_by": order.requested_by,
            "known_at": order.known_at.isoformat() if order.known_at else None,
            "context": order.context,
            "inputs": order.inputs,
        }
        return cls(spec.name, arguments, spec.effect, facts)

    @property
    def sha256(self) -> str:
        """Hash of everything that a condition can see of it."""
        return sha256(self.values())

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


@dataclass(frozen=True)
class Policy:
    """Something that must hold whenever an action in its scope is taken."""

    name: Name
    text: Text
    """What is told to people, and to models."""
    allow_when: str | None = None
    """Condition over `use`, `arguments`, `effect` and `facts`; the action may happen only where it is true. Without
    one the policy is only told."""
    applies_to: Sequence[str] = ()
    """Capabilities, with `*` for any part of a name; empty means everything that changes something."""
    examples: Sequence[PolicyExample] = ()
    effects: Sequence[Effect] = ()
    """Calls of which effect it covers; empty means all of the capabilities it names."""
    breach: Harm | None = None
    """What comes of it where it is broken; None where nobody said."""

    @cached_property
    def version(self) -> str:
        """Hash of all that it says; another one as soon as a word of it is another."""
        return sha256(
            {
                "name": self.name,
                "text": self.text,
                "allow_when": self.allow_when,
                "applies_to": list(self.applies_to),
                "effects": [effect.value for effect in self.effects],
                "breach": self.breach.value if self.breach else None,
                "examples": [[case.request.values(), case.allowed, case.why] for case in self.examples],
            }
        )

    @property
    def is_checked(self) -> bool:
        """Whether code holds it, and not only words."""
        return self.allow_when is not None

    def concerns(self, use: str) -> bool:
        """Whether any call of the capability may be in its scope."""
        return not self.applies_to or any(fnmatchcase(use, pattern) for pattern in self.applies_to)

    def covers(self, use: str, effect: Effect = Effect.WRITE) -> bool:
        """Whether a call of the capability with that effect is in its scope.

        One that names capabilities covers every call of them, reads too; one that names none covers what changes
        something. `effects` says otherwise for both.
        """
        if self.effects:
            return effect in self.effects and self.concerns(use)
        return self.concerns(use) and bool(self.applies_to or effect is not Effect.READ)

    def why_refused(self, request: PolicyRequest) -> str | None:
        """Return why the request may not go on, or None when it may."""
        refusal = self.refusal_of(request)
        return None if refusal is None else refusal.why

    def refusal_of(self, request: PolicyRequest) -> Refusal | None:
        """Return the no to the request, or None when it may go on.

        A condition that cannot be worked out refuses: what nobody could check was not allowed.
        """
        if self.allow_when is None or not self.covers(request.use, request.effect):
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
        use, effect = example.request.use, example.request.effect
        if not policy.covers(use, effect):
            of = "" if policy.concerns(use) else f" uses {use}, to which {policy.name} does not apply."
            of = of or f" is a call with the effect {effect.value}, which {policy.name} does not cover."
            faults.append(ExampleFault(index, f"The example{of}"))
            continue
        if not policy.is_checked:
            faults.append(ExampleFault(index, "The rule has no condition that the example could prove."))
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
