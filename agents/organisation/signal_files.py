"""What `rules/NAME.yaml` may say; sensors are read in `sensor_kinds`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from agents.organisation.declared import Declared, one_or_more
from contracts import CapabilityName, Effect, Json, Name, Text
from governance.policies import Policy, PolicyExample, PolicyRequest

_Several = BeforeValidator(one_or_more)


class ExampleEntry(Declared):
    """A case whose answer is known."""

    use: CapabilityName
    """The capability."""
    arguments: dict[str, Json] = Field(default={}, validation_alias=AliasChoices("with", "arguments"))
    """What it is called with."""
    effect: Effect = Effect.WRITE
    """What it does."""
    facts: dict[str, Json] = Field(default={})
    """What is known beside."""
    allowed: bool
    """The answer that the rule must give."""
    why: str = ""
    """Why, in a sentence."""


class RuleFile(Declared):
    """Something that must hold whenever the world is changed."""

    text: Text
    """In words."""
    applies_to: Annotated[tuple[str, ...], _Several] = ()
    """Capabilities, `*` for any part; empty means all."""
    allow_when: str
    """Condition over use, arguments, effect and facts."""
    examples: tuple[ExampleEntry, ...] = ()
    """Cases that prove it."""

    def policy(self, name: Name) -> Policy:
        """Return it as the gate takes it."""
        examples = tuple(
            PolicyExample(PolicyRequest(case.use, case.arguments, case.effect, case.facts), case.allowed, case.why)
            for case in self.examples
        )
        return Policy(name, self.text, self.allow_when, self.applies_to, examples)
