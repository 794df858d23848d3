"""What the faces show: plain values that an `Application` returns and a face renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

from console.notes import BranchFailure, NotOffered
from console.views_cluster import QueuedOrder
from console.views_rules import RefusedAction
from contracts import (
    Confidence,
    Decision,
    DecisionCard,
    Edit,
    EvidenceItem,
    ExecutionId,
    Extension,
    Json,
    OrderId,
    OrderState,
    Outcome,
    Problem,
    Question,
    Usage,
)  # fmt: skip

Mode: TypeAlias = Literal["auto", "plan", "answer"]
"""What becomes of a goal that no skill is named for: a plan that a model makes, an answer in words, or what its
complexity says."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a person asks an organisation to do, as it was typed."""

    goal: str
    skill: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    """Parameter → text; the plan's declaration says what the text means (`console.parameters.read_values`)."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Parameter → value, from a face that speaks JSON; in the place of its text."""
    at: datetime | None = None
    """Naive: local time of the organisation. Aware: that moment. None: the organisation's clock, or now."""
    by: str | None = None
    """The person of `--as`; None means the entry of the system user."""
    key: str | None = None
    """Idempotency key: the same twice is the same execution."""
    language: str | None = None
    """None means the organisation's."""
    budget: Mapping[str, str] = field(default_factory=dict)
    """`seconds`, `steps`, `tokens`, `money` → text."""
    priority: int = 0
    """Its orders get a slot before those of a smaller number."""
    mode: Mode = "auto"
    """Without a model only `auto` is possible: a skill has to fit."""
    strict: bool = False
    """Every effect waits for a person, whatever the organisation allows."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A request that was recorded; whoever claims its execution first runs it."""

    execution_id: ExecutionId
    repeated: bool = False
    """The idempotency key was known: this is the execution that it stands for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of an organisation folder."""

    file: str
    """As a person would type it from the working directory."""
    line: int | None
    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What `silicon check` found."""

    folder: Path
    organisation: str | None
    """None when not even the name could be read."""
    faults: tuple[Fault, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was read: `employees`, `skills`, `metrics`, `sensors`, `rules`, `people`."""


@dataclass(frozen=True, slots=True)
class Product:
    """Something delivered, with the file it was put into."""

    title: str
    kind: str
    path: Path | None
    sha256: str
    damaged: bool = False
    """Whether one of its files was changed or removed in the ledger; the path is then that of an earlier writing."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding, in the language of the execution."""

    verdict: str
    statement: str
    confidence: Confidence


class CardState(StrEnum):
    """Whether a card can still be decided."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class CardStanding:
    """A card and what became of it."""

    card: DecisionCard
    state: CardState
    outcome: Outcome | None = None
    """None while it is open."""
    option: str | None = None
    """The option chosen, when approved."""
    stands: str = ""
    """Its state to the last: `open`, `approved`, `executed`, `undone`, …"""
    card_sha256: str = ""
    """Hash of the card as it is shown; a decision carries it."""
    decisions: tuple[Decision, ...] = ()
    edits: tuple[Edit, ...] = ()
    """What people changed before it was decided, first to last."""
    who: tuple[str, ...] = ()
    """Groups and people it stands before now: those of the card, or those it was escalated to."""
    deciders: tuple[str, ...] = ()
    """Ids of the people who may decide it now; whoever asked is not among them."""
    deadline: datetime | None = None
    """The deadline that holds now; None once it is closed."""
    reason: str = ""
    """Why it was withdrawn, or what failed when it was carried out."""
    passed: bool = False
    """Whether its mode let an option pass without a person."""
    superseded_by: str | None = None
    acted_at: datetime | None = None
    """When the last of it was carried out, or had failed."""
    back_by: str | None = None
    """Who had it taken back."""
    reviewed: str = ""
    """`right` or `serious`, once somebody said so afterwards."""


@dataclass(frozen=True, slots=True)
class ExecutionOutcome:
    """How an execution stands after it was run, resumed, cancelled or looked at."""

    execution_id: ExecutionId
    organisation: str
    goal: str
    skill: str | None
    state: OrderState
    findings: tuple[Found, ...] = ()
    products: tuple[Product, ...] = ()
    cards: tuple[CardStanding, ...] = ()
    """Open cards."""
    decided: tuple[CardStanding, ...] = ()
    """Closed cards, in the order they were raised: approved, denied, expired or withdrawn."""
    questions: tuple[Question, ...] = ()
    """Open questions."""
    usage: Usage = field(default_factory=Usage)
    error: Problem | None = None
    asks: Extension | None = None
    """What it needs to go on, where it stopped at a limit."""
    output: Json = None
    failed_branches: tuple[BranchFailure, ...] = ()
    """Branches that failed or were cancelled, in whatever state the whole is: plans go on without them."""
    branch_ended: bool = False
    """Whether the branch that was to be cancelled had ended before: nothing was cancelled."""
    not_offered: tuple[NotOffered, ...] = ()
    """Options that no card shows, and why; where none is left, there was nothing to decide."""
    queued: tuple[QueuedOrder, ...] = ()
    """Orders of it that wait for a slot, the first in line; told where one looks at it while it runs."""
    repeated: bool = False
    """The idempotency key was known: nothing new was run."""
    imported: bool = False
    """It happened elsewhere and came in as a file; it never goes on here."""


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """One line of `silicon runs`."""

    execution_id: ExecutionId
    organisation: str
    goal: str
    skill: str | None
    state: OrderState
    requested_by: str
    requested_at: datetime
    seconds: float | None
    """None while it is not known: it is summed up when the execution ends."""
    waiting_for: tuple[str, ...] = ()
    held: bool = False
    """Whether a process runs it now; a running execution that nobody holds can be resumed."""
    queued: tuple[QueuedOrder, ...] = ()
    """Orders of it that wait for a slot, the first in line."""
    imported: bool = False
    """It happened elsewhere and came in as a file; it never goes on here."""


class StepState(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    """Its order was cancelled before it had ended; whether it had begun, its order's slot may tell."""


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A sign of life that a step gave: its model is being asked, or its request waits for its turn."""

    order_id: str
    step: str
    index: int | None
    role: str
    """Which model of the settings."""
    model: str
    """Its name; empty where that is not known."""
    waits: bool
    """Whether the request waits for its turn, and nothing was sent."""
    since: datetime
    version: int
    """Of the order's stream when the request was made; a later event of the step tells what came of it."""


@dataclass(frozen=True, slots=True)
class StepNode:
    """One step of an order, or one repetition of it, with what it gave and where that came from."""

    id: str
    state: StepState
    index: int | None = None
    description: str = ""
    use: str | None = None
    """The capability that was called."""
    seconds: float = 0.0
    attempts: int = 0
    output: Json = None
    """In full, also when it was kept by reference."""
    damaged: bool = False
    """Whether the output was changed or removed in the ledger and cannot be shown."""
    result_sha256: str | None = None
    query_sha256: str | None = None
    data_sha256: str | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    files: tuple[str, ...] = ()
    problem: Problem | None = None
    why: str = ""
    """Why it was skipped."""
    waiting_for: tuple[str, ...] = ()
    asked: ModelAsked | None = None
    """That its model is being asked now; told of a request that takes its time."""
    orders: tuple[OrderNode, ...] = ()
    """Orders given to carry it out."""
    steps: tuple[StepNode, ...] = ()
    """Branches of a parallel group."""


@dataclass(frozen=True, slots=True)
class OrderNode:
    """One order: who did it, how, and its steps."""

    order_id: OrderId
    employee: str
    title: str
    """The employee's title."""
    objective: str
    state: OrderState
    skill: str | None = None
    seconds: float = 0.0
    slot: str | None = None
    """Slot and driver, where it had one."""
    steps: tuple[StepNode, ...] = ()
    seals: tuple[str, ...] = ()
    """Seals of its evidence packages."""
    revisions: tuple[str, ...] = ()
    """Why its plan was changed, in order."""
    refused: tuple[RefusedAction, ...] = ()
    """What rules did not let happen, in order."""
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class ExecutionTree:
    """Everything `silicon show` shows of one execution."""

    outcome: ExecutionOutcome
    requested_by: str
    requested_at: datetime
    known_at: datetime | None
    trace_id: str
    root: OrderNode | None
    """None before the head employee got its order."""


@dataclass(frozen=True, slots=True)
class MetricReading:
    """One value of one metric; missing, zero and not yet arrived are three different things."""

    bucket: str
    state: str
    """`value`, `missing` or `not_yet_arrived`."""
    value: float | None
    n: int | None
    """How many rows it rests on."""
    dimensions: Mapping[str, Json] = field(default_factory=dict)
