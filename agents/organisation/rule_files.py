"""What `rules/NAME.yaml` may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from agents.organisation.declared import Declared, one_or_more
from contracts import CapabilityName, Effect, Json, Name, Text
from governance.policies import Harm, Policy, PolicyExample, PolicyRequest

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
    """Something that must hold whenever an action in its scope is taken."""

    text: Text
    """In words."""
    applies_to: Annotated[tuple[str, ...], _Several] = ()
    """Capabilities, `*` for any part; empty means everything that changes something."""
    effects: Annotated[tuple[Effect, ...], _Several] = ()
    """Calls of which effect; empty means all of the capabilities it names."""
    allow_when: str | None = None
    """Condition over use, arguments, effect and facts."""
    breach: Harm | None = None
    """What comes of it where it is broken."""
    examples: tuple[ExampleEntry, ...] = ()
    """Cases that prove it."""

    def policy(self, name: Name) -> Policy:
        """Return it as the gate takes it."""
        examples = tuple(
            PolicyExample(PolicyRequest(case.use, case.arguments, case.effect, case.facts), case.allowed, case.why)
            for case in self.examples
        )
        return Policy(name, self.text, self.allow_when, self.applies_to, examples, self.effects, self.breach)
