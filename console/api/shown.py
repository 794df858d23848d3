"""What the HTTP API gives, as models: they are the OpenAPI description of its answers."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.api.shown_cluster import OrderInLine
from console.api.shown_notes import BranchFailed, OptionLeftOut
from console.views import CardStanding, CardState, ExecutionOutcome, ExecutionRow
from contracts import (
    CardId,
    Confidence,
    ExecutionId,
    Extension,
    Json,
    Name,
    Notification,
    OrderState,
    Outcome,
    Problem,
    Question,
    QuestionId,
    Text,
    Usage,
)  # fmt: skip

EXECUTION = "execution/01JB0000000000000000000XEC"
QUESTION = "question/01JB0000000000000000000QST"


class Links(ApiModel):
    """Where to go on from here."""

    self_: str = Field(alias="self")
    """How it stands."""
    tree: str
    """Every order and step of it."""
    events: str
    """What happens in it, as a stream of server-sent events."""

    @classmethod
    def of(cls, execution_id: ExecutionId) -> Links:
        """Return the addresses of one execution."""
        here = f"/api/v1/executions/{execution_id.ulid}"
        return cls(self_=here, tree=f"{here}/tree", events=f"{here}/events")


class ExecutionSummary(ApiModel):
    """One execution, as the list shows it."""

    execution_id: ExecutionId = Field(examples=[EXECUTION])
    """Its id; the part after the slash stands in addresses."""
    organisation: Name
    """Who was asked."""
    goal: str
    """What is wanted."""
    skill: Name | None = None
    """The skill that answers it."""
    state: OrderState
    """Where it stands."""
    requested_by: str
    """The person, or the sensor, that asked."""
    requested_at: AwareDatetime
    """When, UTC."""
    seconds: float | None = None
    """Seconds of work; known once it has ended."""
    waiting_for: tuple[str, ...] = ()
    """Cards and questions that people have to answer before it goes on."""
    held: bool = False
    """Whether a process works on it at this moment."""
    queued: tuple[OrderInLine, ...] = ()
    """Orders of it that wait for a slot, the first twenty in line."""
    imported: bool = False
    """It happened elsewhere and came in as a file; it never goes on here."""
    links: Links
    """Where to go on from here."""

    @classmethod
    def of(cls, row: ExecutionRow) -> ExecutionSummary:
        """Return the summary of a row."""
        return cls(
            execution_id=row.execution_id,
            organisation=row.organisation,
            goal=row.goal,
            skill=row.skill,
            state=row.state,
            requested_by=row.requested_by,
            requested_at=row.requested_at,
            seconds=row.seconds,
            waiting_for=row.waiting_for,
            held=row.held,
            queued=tuple(map(OrderInLine.of, row.queued)),
            imported=row.imported,
            links=Links.of(row.execution_id),
        )


class ExecutionList(ApiModel):
    """One page of executions, newest first."""

    executions: tuple[ExecutionSummary, ...]
    """The page."""
    next: str | None = None
    """Give it back as `cursor` for the page after this one; absent on the last page."""


class FindingShown(ApiModel):
    """One finding, in the language of the execution."""

    verdict: str
    """What was found, in one word."""
    statement: str
    """In a sentence."""
    confidence: Confidence
    """How sure; earned by the statistics."""


class ProductShown(ApiModel):
    """Something delivered."""

    title: str
    """What it is called."""
    kind: str
    """What it is: `report`, …"""
    sha256: str
    """Hash of its main file."""
    damaged: bool = False
    """Whether one of its files was changed or removed in the ledger."""


class CardShown(ApiModel):
    """A decision card, and what became of it."""

    card_id: CardId
    """Its id."""
    question: Text
    """What is to be decided."""
    state: CardState
    """Whether it can still be decided."""
    outcome: Outcome | None = None
    """How it ended."""
    option: str | None = None
    """The option that was chosen."""
    deciders: tuple[str, ...] = ()
    """Who may decide it as things stand now."""
    deadline: AwareDatetime | None = None
    """Until when, while it is open."""

    @classmethod
    def of(cls, standing: CardStanding) -> CardShown:
        """Return what is shown of a card."""
        return cls(
            card_id=standing.card.card_id,
            question=standing.card.question,
            state=standing.state,
            outcome=standing.outcome,
            option=standing.option,
            deciders=standing.deciders,
            deadline=standing.deadline,
        )


class Execution(ExecutionSummary):
    """One execution with everything it found, delivered and waits for."""

    findings: tuple[FindingShown, ...] = ()
    """What was found."""
    products: tuple[ProductShown, ...] = ()
    """What was delivered."""
    cards: tuple[CardShown, ...] = ()
    """Its decision cards: open ones first, then closed ones in the order they were raised."""
    questions: tuple[Question, ...] = ()
    """Its open questions."""
    usage: Usage
    """What was spent."""
    error: Problem | None = None
    """What went wrong."""
    asks: Extension | None = None
    """Where it stopped at a limit: what is done, what is missing, and how much more it needs to go on."""
    output: Json = None
    """What its plan gives."""
    not_offered: tuple[OptionLeftOut, ...] = ()
    """Options that no card shows, and why."""
    failed_branches: tuple[BranchFailed, ...] = ()
    """Branches of parallel groups that failed or were cancelled, also where the whole is done."""

    @classmethod
    def with_outcome(cls, row: ExecutionRow, outcome: ExecutionOutcome) -> Execution:
        """Return an execution from its row and its outcome."""
        return cls(
            **dict(ExecutionSummary.of(row)),
            findings=tuple(
                FindingShown(verdict=each.verdict, statement=each.statement, confidence=each.confidence)
                for each in outcome.findings
            ),
            products=tuple(
                ProductShown(title=each.title, kind=each.kind, sha256=each.sha256, damaged=each.damaged)
                for each in outcome.products
            ),
            cards=tuple(map(CardShown.of, (*outcome.cards, *outcome.decided))),
            questions=outcome.questions,
            usage=outcome.usage,
            error=outcome.error,
            asks=outcome.asks,
            output=outcome.output,
            not_offered=tuple(map(OptionLeftOut.of, outcome.not_offered)),
            failed_branches=tuple(map(BranchFailed.of, outcome.failed_branches)),
        )


class QuestionList(ApiModel):
    """The questions that wait for an answer, oldest first."""

    questions: tuple[Question, ...]
    """The questions."""


class NotificationList(ApiModel):
    """What people were told and need not answer, newest first."""

    notifications: tuple[Notification, ...]
    """The messages."""


class Answered(ApiModel):
    """An answer was recorded."""

    question_id: QuestionId = Field(examples=[QUESTION])
    """What was answered."""
    execution_id: ExecutionId = Field(examples=[EXECUTION])
    """The execution that goes on with it."""


class Health(ApiModel):
    """Whether the server lives, or is ready to work."""

    status: str = Field(examples=["ok"])
    """`ok`."""
