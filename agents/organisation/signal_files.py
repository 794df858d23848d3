"""What `sensors/NAME.yaml` and `rules/NAME.yaml` may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from agents.cognition.sense.definition import Raise, SensorDefinition
from agents.organisation.declared import Declared, Duration, one_or_more
from contracts import CapabilityName, Effect, Grain, Json, Name, Severity, Text
from governance.policies import Policy, PolicyExample, PolicyRequest

_Several = BeforeValidator(one_or_more)


class RaiseEntry(Declared):
    """The goal that a signal raises."""

    goal: str = Field(min_length=1)
    """In words; bindings name bucket, dimensions, value, n, metric, sensor and at."""
    skill: Name | None = None
    """The skill; absent, the goal's words decide."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Values for the plan's parameters."""


class SensorFile(Declared):
    """A sensor."""

    title: Text = ""
    """Its name for people."""
    metric: Name
    """What it watches."""
    grain: Grain
    """By which period."""
    by: Annotated[tuple[Name, ...], _Several] = ()
    """Dimensions whose slices are watched for themselves."""
    when: str
    """Condition over a bucket."""
    pass_over: str | None = None
    """Buckets that neither break a row nor count in it."""
    in_a_row: int = Field(default=1, ge=1)
    """Buckets one after the other in which it must have held."""
    merge_gap: Duration | None = None
    """Longest gap inside one episode."""
    severity: Severity = Severity.MEDIUM
    """How much it matters."""
    at_least_history: int = Field(default=0, ge=0)
    """Earlier buckets without which there is no judgement."""
    baseline_over: int = Field(default=28, ge=1)
    """Earlier buckets of which `baseline` is the median."""
    look_back: int | None = Field(default=None, ge=1)
    """Buckets read before the ones judged."""
    raises: RaiseEntry | None = None
    """What follows."""

    def definition(self, name: Name) -> SensorDefinition:
        """Return it as sensors take it."""
        entry = self.raises
        raises = Raise(entry.goal, entry.skill, entry.arguments) if entry else None
        return SensorDefinition(
            name=name,
            metric=self.metric,
            grain=self.grain,
            when=self.when,
            title=self.title,
            by=self.by,
            pass_over=self.pass_over,
            in_a_row=self.in_a_row,
            merge_gap_s=self.merge_gap,
            at_least_history=self.at_least_history,
            severity=self.severity,
            raises=raises,
            baseline_over=self.baseline_over,
            look_back=self.look_back,
        )


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
