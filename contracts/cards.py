"""Questions and decisions: where people come in."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import AwareDatetime, Field, model_validator

from contracts.base import VERSION_PATTERN, CapabilityName, Contract, Json, Name, Sha256, StepId, Text
from contracts.expectations import Expectation
from contracts.hours import WorkingHours
from contracts.ids import CardId, DecisionId, ExecutionId, NotificationId, OrderId, QuestionId
from contracts.plan import Effect
from contracts.request import ApprovalMode


class Confidence(StrEnum):
    """How sure a finding is; earned by statistics, never claimed."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Question(Contract):
    """A question that an `ask` step puts to a person."""

    question_id: QuestionId
    """Answers name it; it is consumed once."""
    execution_id: ExecutionId
    """The execution that waits."""
    order_id: OrderId
    """The order that waits."""
    step: StepId
    """The step that waits."""
    text: Text
    """The question."""
    who: Name | None = None
    """Person or group asked; absent means whoever requested the execution."""
    choices: tuple[str, ...] = ()
    """Allowed answers; empty allows any text."""
    asked_at: AwareDatetime
    """UTC."""
    deadline: AwareDatetime | None = None
    """UTC; from then on the question is expired."""


class Answer(Contract):
    """The answer to one question."""

    question_id: QuestionId
    """What it answers."""
    value: Json = None
    """The answer."""
    by: str
    """Who answered."""
    at: AwareDatetime
    """UTC."""


class Notification(Contract):
    """A message to people that nobody has to answer."""

    notification_id: NotificationId
    """Its name; the same for the same key."""
    execution_id: ExecutionId
    """The execution that tells it."""
    order_id: OrderId
    """The order."""
    step: StepId
    """The step."""
    organisation: Name
    """Whose people are told."""
    employee: Name
    """Who tells them."""
    to: tuple[Name, ...] = Field(min_length=1)
    """The people, by their ids; a group was put out when it was told."""
    text: str = Field(min_length=1)
    """The message."""
    key: str
    """What is told under it once is never told again."""
    sent_at: AwareDatetime
    """UTC."""


class Action(Contract):
    """One effect, exactly as it will happen: the thing a person approves."""

    by: Name
    """The employee that carries it out."""
    use: CapabilityName
    """The capability."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Exactly these."""
    effect: Effect
    """What it does to the world."""
    capability_sha256: Sha256
    """Hash of the capability's declaration, so that a changed tool needs a new card."""


class Option(Contract):
    """One choice on a card."""

    VERSION: ClassVar[str] = "1.2"
    schema_version: str = Field(default="1.2", pattern=VERSION_PATTERN)
    """1.1: `confidence` may be absent. 1.2: `expects`."""
    id: StepId
    """What a decision names."""
    title: Text
    """The choice in one line."""
    benefit: Text
    """What is gained."""
    risk: Text
    """What may go wrong."""
    cost: Text
    """What it costs."""
    reversible: bool
    """Whether it can be taken back."""
    confidence: Confidence | None = None
    """How sure the expected benefit is; absent where no statistics tell."""
    expects: Expectation | None = None
    """What it promises of a metric; absent where nothing is promised that could be read."""
    actions: tuple[Action, ...] = ()
    """What is carried out; empty for doing nothing."""
    undo: tuple[Action, ...] = ()
    """How it is taken back, where it can be."""


class CardKind(StrEnum):
    """Why a card was raised."""

    CHOICE = "choice"
    """An advisor offers options."""
    EFFECT = "effect"
    """A step is about to change the world without an approval that covers it."""
    IN_DOUBT = "in_doubt"
    """Nobody knows whether an effect happened."""
    ACCESS = "access"
    """Who was called does not let us do it; somebody may grant it, or do it by hand."""
    PROPOSAL = "proposal"
    """How the organisation itself works is to change: a looser mode, a new skill. `proposes` says what exactly."""


class DecisionCard(Contract):
    """A multiple-choice question about something that matters."""

    VERSION: ClassVar[str] = "1.6"
    schema_version: str = Field(default="1.6", pattern=VERSION_PATTERN)
    """1.1: an option may be without a confidence. 1.2: `gives`. 1.3: the kind `access`. 1.4: `employee`. 1.5: what an
    option expects. 1.6: the kind `proposal`, why a mode holds, what a card is about, how its time is counted."""
    card_id: CardId
    """Decisions name it."""
    kind: CardKind
    """Why it was raised."""
    execution_id: ExecutionId
    """The execution that waits."""
    order_id: OrderId
    """The order that waits."""
    step: StepId
    """The step that waits."""
    organisation: Name
    """Whose card this is."""
    employee: Name | None = None
    """Who raised it, and with that the department to which it belongs; absent on older cards."""
    question: Text
    """In one line."""
    impact: Text
    """What it is about and how much hangs on it."""
    options: tuple[Option, ...] = Field(min_length=2, max_length=4)
    """Two or three, doing nothing among them."""
    evidence: tuple[Sha256, ...] = ()
    """Addresses of what it rests on."""
    facts: dict[str, Json] = {}
    """Numbers shown on the card, each `{value, source}`."""
    gives: dict[str, Json] = {}
    """Of an effect in doubt, or of a call that is done by hand: what it gives, field → type or JSON Schema, where
    whoever says that it was done may tell that as well."""
    policy: Name
    """The approval rule of the organisation that it falls under."""
    mode: ApprovalMode = ApprovalMode.STRICT
    """How it is decided."""
    mode_why: str = ""
    """Which row of the table of modes says so: `policy`, `irreversible`, `low_confidence`, …; empty on old cards."""
    about: str = Field(default="", max_length=200)
    """What it is about; a newer card about the same, with the same capabilities, takes the place of an open one."""
    proposes: dict[str, Json] = {}
    """Of a proposal: what changes once it is approved."""
    who: tuple[Name, ...] = Field(min_length=1)
    """People or groups that may decide."""
    quorum: int = Field(default=1, ge=1)
    """How many of them have to say yes."""
    requested_by: str
    """Who asked for the execution; cannot decide."""
    raised_at: AwareDatetime
    """UTC."""
    deadline: AwareDatetime
    """UTC; a card not decided by then is expired, which is not a no."""
    remind_at: AwareDatetime | None = None
    """UTC; who may decide is reminded then, once. Absent: nobody is."""
    within_s: float | None = Field(default=None, gt=0)
    """Seconds that were given to decide; whoever it is passed on to gets as many. Absent: those to the deadline."""
    hours: WorkingHours | None = None
    """The hours in which these seconds are counted; absent means day and night."""
    escalate_to: tuple[Name, ...] = ()
    """Who gets it after the deadline; empty means nobody."""

    @model_validator(mode="after")
    def _options_are_distinct(self) -> Self:
        ids = [option.id for option in self.options]
        if len(ids) != len(set(ids)):
            raise ValueError("Two options of one card have the same id.")
        return self


class Outcome(StrEnum):
    """How a card ended. Only `approved` is a yes."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    """A newer card about the same took its place."""


class Edit(Contract):
    """What one person changed in an option before it was decided; both forms stay on record."""

    card_id: CardId
    """The card."""
    option: StepId
    """The option."""
    before: tuple[Action, ...]
    """Its actions as they were."""
    after: tuple[Action, ...]
    """Its actions as they are to be carried out, should the option be approved."""
    reason: str = Field(default="", max_length=4_000)
    """In the person's words."""
    by: Name
    """Who; cannot decide the card any more."""
    at: AwareDatetime
    """When, UTC."""
    via: str
    """From where."""


class Decision(Contract):
    """What one person decided about one card."""

    VERSION: ClassVar[str] = "1.2"
    schema_version: str = Field(default="1.2", pattern=VERSION_PATTERN)
    """1.1: `output`. 1.2: `on_behalf_of`, `card_version`."""
    decision_id: DecisionId
    """Its name in the audit."""
    card_id: CardId
    """The card."""
    card_sha256: Sha256
    """Hash of the card as it was shown."""
    approve: bool
    """A yes to `option`, or a no to all of them."""
    option: StepId | None = None
    """The option chosen; absent for a no."""
    reason: str = Field(default="", max_length=4_000)
    """In the person's words."""
    output: dict[str, Json] | None = None
    """What an effect gave that happened, as this person tells it; absent where they did not say."""
    by: Name
    """Who."""
    on_behalf_of: Name | None = None
    """Who delegated their cards to that person, where only that gives the right; both have one voice."""
    card_version: int | None = Field(default=None, ge=1)
    """How many events the card had when it was decided; absent on old decisions."""
    at: AwareDatetime
    """When, UTC."""
    via: str
    """From where: `cli`, `console`, `api`, with the address where there is one."""

    @model_validator(mode="after")
    def _a_yes_names_its_option(self) -> Self:
        if self.approve != (self.option is not None):
            raise ValueError("A yes names exactly one option; a no names none.")
        return self

    @property
    def voice(self) -> str:
        """Whose voice it is, where voices are counted."""
        return self.on_behalf_of or self.by
