"""A plan is data: steps, what they need, what they give and how they are judged."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from contracts.base import VERSION_PATTERN, Budget, CapabilityName, Contract, Json, Name, StepId, Text

ALL_SKILLS: Literal["all"] = "all"
"""What a step says in the place of skills, to leave it to the task which of those below its model is shown."""

LONGEST_S = 10 * 366 * 86_400
"""The longest duration a plan may name: ten years."""


class Effect(StrEnum):
    """What a capability does to the world, weakest first."""

    READ = "read"
    """Changes nothing; may run again."""
    IDEMPOTENT = "idempotent"
    """Changes something, but twice is the same as once; may run again."""
    WRITE = "write"
    """Changes something; can be undone, must not run twice."""
    IRREVERSIBLE = "irreversible"
    """Changes something for good."""

    @property
    def needs_gate(self) -> bool:
        """Whether a policy and an approval stand before it."""
        return self in (Effect.WRITE, Effect.IRREVERSIBLE)


class Tier(StrEnum):
    """Where work belongs."""

    COGNITIVE = "cognitive"
    """Knowledge, planning, judging: no slot."""
    EXECUTION = "execution"
    """Browser, shell, files, code, data, effects: in a slot."""


class StepMode(StrEnum):
    """Who or what does a step."""

    DIRECT = "direct"
    """A capability with bound parameters; no model."""
    REACT = "react"
    """A model reasons with tools."""
    EMPLOYEE = "employee"
    """Delegated to another employee."""
    ASK = "ask"
    """A person answers."""
    PARALLEL = "parallel"
    """A group of branches that all settle."""


class DispatchMode(StrEnum):
    """How many steps of a plan that do not need each other are in progress at once."""

    SEQUENTIAL = "sequential"
    """One after the other, in the order they are declared."""
    PARALLEL = "parallel"
    """As many as the setting `engine.dispatch_at_once` says."""
    ADAPTIVE = "adaptive"
    """As many to begin with, one more after a success, half after a failure; at most `engine.dispatch_most`."""


class OutputMode(StrEnum):
    """Where a step's output goes."""

    INLINE = "inline"
    ARTIFACT = "artifact"
    BLACKBOARD = "blackboard"
    NONE = "none"


class Materialisation(StrEnum):
    """In which form an input reaches a prompt."""

    FULL = "full"
    REFERENCE = "reference"
    SUMMARY = "summary"


class ValueType(StrEnum):
    """The types that parameters and outputs are declared with."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    DATE = "date"
    DATE_TIME = "date-time"
    MONEY = "money"
    ANY = "any"


class Parameter(Contract):
    """One parameter of a plan or capability."""

    type: ValueType
    """What may be passed."""
    description: Text = ""
    """What it means, for people and models."""
    example: Json = None
    """One real value."""
    default: Json = None
    """Used when nothing is passed."""
    required: bool = True
    """Whether a value must be passed; a parameter with a default is not required."""
    choices: tuple[Json, ...] = ()
    """The only values allowed; empty allows all of the type."""

    @property
    def must_be_given(self) -> bool:
        """Whether a caller has to pass a value."""
        return self.required and self.default is None


class PlausibilityRule(Contract):
    """A check on a result that is possible but suspicious."""

    check: str = Field(min_length=1)
    """Expression over the step's output; false means suspicious."""
    message: Text
    """What is told when it is."""


class Repetition(Contract):
    """Repeat a step until a check holds."""

    check: str = Field(min_length=1)
    """Expression over the step's output; true ends the repetition."""
    most: int = Field(ge=1, le=100)
    """Runs at most; reaching it is a report, not a crash."""


class Compensation(Contract):
    """How the effect of a step is taken back when the execution is cancelled."""

    use: CapabilityName
    """The capability that takes it back."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Its arguments; bindings are resolved when the step runs."""


class Alternative(Contract):
    """Another way to do a step, taken once when its acceptance checks fail or the other side refuses."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)
    """1.1: `when`, `skip`, `otherwise`."""
    when: str | None = None
    """Condition over `problem` and what the step sees; false passes this way over."""
    skip: bool = False
    """Go on without the step, as if its own `when` had been false."""
    by: Name | None = None
    """Who does it then."""
    use: CapabilityName | None = None
    """What is called then."""
    skill: Name | None = None
    """With which skill it is done then."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Where nothing else is to be called, only those that change."""
    otherwise: Alternative | None = None
    """What is tried after this way."""

    @model_validator(mode="after")
    def _skips_or_does(self) -> Self:
        if self.skip and (self.by or self.use or self.skill or self.arguments or self.otherwise):
            raise ValueError("An other way that skips the step does nothing else; leave out what stands beside `skip`.")
        return self


class QuestionTemplate(Contract):
    """What an `ask` step asks."""

    text: Text
    """The question; bindings in it are filled."""
    who: Name | None = None
    """Person or group asked; absent means whoever requested the execution."""
    choices: tuple[str, ...] = ()
    """Allowed answers; empty allows any text."""
    within_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    """Seconds until the question expires."""


class Step(Contract):
    """One step of a plan."""

    VERSION: ClassVar[str] = "1.3"
    schema_version: str = Field(default="1.3", pattern=VERSION_PATTERN)
    """1.1: `budget`, more than one other way. 1.2: `plan`. 1.3: `skills`."""
    id: StepId
    """Unique in its plan; later steps name it."""
    description: Text = ""
    """What it is for, for people and models."""
    by: Name | None = None
    """The employee that does it; absent means whoever runs the plan."""
    use: CapabilityName | None = None
    """The capability it calls."""
    skill: Name | None = None
    """The skill another employee does it with, or a nested plan."""
    order: str | None = None
    """Binding to an action that a person decided for, carried out as it was shown."""
    plan: str | None = None
    """Binding to steps that were proposed while the order ran (`propose_plan`); `by` carries them out."""
    ask: QuestionTemplate | None = None
    """The question it puts to a person."""
    react: Text | None = None
    """The task a model works on with tools."""
    tools: tuple[CapabilityName, ...] = ()
    """Capabilities that the model may call, those of `must_call` beside."""
    skills: tuple[Name, ...] | Literal["all"] = ()
    """Skills that the model may have done; of `all` that there are below it is shown those that fit the task."""
    parallel: tuple[Step, ...] = ()
    """Branches of a group: all settle, a failed one becomes `{"__error": …}`."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Arguments; `{{ … }}` binds a value by path, code fills it."""
    gives: dict[str, Json] = {}
    """Output schema: field → type name or JSON Schema."""
    output: OutputMode = OutputMode.INLINE
    """Where the output goes."""
    material: dict[str, Materialisation] = {}
    """Argument → form in which it reaches a prompt."""
    inherit: tuple[str, ...] = ()
    """Bindings handed down as inherited context."""
    after: tuple[StepId, ...] = ()
    """Steps that come first; bindings add their own."""
    when: str | None = None
    """Condition; false skips the step."""
    for_each: str | None = None
    """Binding to an array; the step runs once for each `item`."""
    at_once: int | None = Field(default=None, ge=1, le=64)
    """How many branches or repetitions run at the same time; absent means the setting `engine.parallel` (3)."""
    until: Repetition | None = None
    """Bounded repetition."""
    accept: tuple[str, ...] = ()
    """Acceptance checks: expressions over the step's own output and earlier steps."""
    must_call: tuple[CapabilityName, ...] = ()
    """Capabilities, and skills of `skills`, without whose call the step is not done."""
    plausible: tuple[PlausibilityRule, ...] = ()
    """Rules for suspicious results."""
    effect: Effect | None = None
    """May only be stronger than what the capability declares."""
    retries: int | None = Field(default=None, ge=0, le=10)
    """Retries after a passing fault; absent means the rule of the error's category."""
    timeout_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    """Seconds for one attempt."""
    iterations: int | None = Field(default=None, ge=1)
    """Answers of the model at most; absent means `engine.iterations`."""
    always_store: bool = False
    """Keep the result by reference whatever its size."""
    compensate: Compensation | None = None
    """How to take the effect back on cancellation."""
    otherwise: Alternative | None = None
    """The other way, tried once when acceptance fails; it may have one behind it."""
    budget: Budget | None = None
    """The most that one run of it, everything below included, takes of what the plan may spend; kept free for it."""

    @property
    def mode(self) -> StepMode:
        """Who or what does the step; follows from which field is filled."""
        if self.parallel:
            return StepMode.PARALLEL
        if self.ask is not None:
            return StepMode.ASK
        if self.react is not None:
            return StepMode.REACT
        if self.by is not None or self.order is not None or self.plan is not None or self.skill is not None:
            return StepMode.EMPLOYEE
        return StepMode.DIRECT

    @model_validator(mode="after")
    def _says_one_thing_to_do(self) -> Self:
        said = [n for n in ("use", "skill", "order", "plan", "ask", "react", "parallel") if getattr(self, n)]
        if len(said) != 1:
            what = "nothing to do" if not said else f"{' and '.join(said)} at once"
            raise ValueError(
                f"Step {self.id} says {what}; give exactly one of use, skill, order, plan, ask, react, parallel."
            )
        if self.for_each is not None and self.until is not None:
            raise ValueError(f"Step {self.id} has both for_each and until; choose one.")
        return self


class PlanDefinition(Contract):
    """The steps of one way to reach a goal."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)
    """1.1: `dispatch`; steps may have a budget."""
    parameters: dict[StepId, Parameter] = {}
    """What has to be known before the first step."""
    steps: tuple[Step, ...] = Field(min_length=1, max_length=500)
    """In the order people read them; dependencies decide the order they run in."""
    dispatch: DispatchMode = DispatchMode.PARALLEL
    """How many steps that are ready run at the same time."""
    accept: tuple[str, ...] = ()
    """Checks on the whole: expressions over the outputs of all steps."""
    gives: dict[str, Json] = {}
    """Field of the plan's own output → binding to a step's output; empty gives the last step's."""

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        seen: set[str] = set()
        for step in self.all_steps():
            if step.id in seen:
                raise ValueError(f"Two steps have the id {step.id}; each id names one step.")
            if step.id in self.parameters:
                raise ValueError(f"{step.id} is both a parameter and a step; bindings could not tell them apart.")
            seen.add(step.id)
        return self

    def all_steps(self) -> Iterator[Step]:
        """Every step, the branches of groups included, in reading order."""
        stack = list(reversed(self.steps))
        while stack:
            step = stack.pop()
            yield step
            stack.extend(reversed(step.parallel))
