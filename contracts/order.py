"""What one employee asks of another, and what comes back."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from contracts.base import VERSION_PATTERN, Budget, Contract, Json, Name, Sha256, StepId, Usage
from contracts.ids import CardId, EvidenceId, ExecutionId, OrderId, QuestionId
from contracts.plan import PlanDefinition, Tier
from contracts.problems import Problem
from contracts.request import ApprovalMode


class Ancestor(Contract):
    """One order above this one."""

    order_id: OrderId
    """The order."""
    employee: Name
    """Who has it."""
    skill: Name | None = None
    """With which skill."""
    step: StepId | None = None
    """The step of its plan that led here."""


class Workspace(Contract):
    """Files of the employee's own, put into the slot of its order and written back with every step."""

    files: int | None = Field(default=None, ge=1)
    """How many it holds at most; absent means the setting `files.count`."""
    total_bytes: int | None = Field(default=None, ge=1)
    """How large they are together at most; absent means the setting `files.total_mib`."""


class TaskOrder(Contract):
    """One piece of work handed to one employee."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)
    """1.1: steps of its plan may have a budget."""
    order_id: OrderId
    """Also the name of its stream in the ledger."""
    execution_id: ExecutionId
    """The execution it belongs to."""
    organisation: Name
    """Whose work this is; two organisations never see each other's."""
    employee: Name
    """Who is to do it."""
    issued_by: str
    """The employee above, or the person or sensor that asked."""
    objective: str
    """What is wanted, in words."""
    constraints: tuple[str, ...] = ()
    """What must hold while it is done."""
    accept: tuple[str, ...] = ()
    """Acceptance criteria: expressions over the output."""
    skill: Name | None = None
    """The skill whose plan this is."""
    plan: PlanDefinition
    """The steps, pinned when the order was given."""
    inputs: dict[str, Json] = {}
    """Values of the plan's parameters, bound by code."""
    labels: tuple[str, ...] = ()
    """Labels a node must have, all of them."""
    needs: tuple[str, ...] = ()
    """Limits that the sandbox must hold, by name, such as `network`; where it cannot, the order is not placed."""
    priority: int = Field(default=0, ge=-100, le=100)
    """Orders of a greater number get a slot first."""
    tier: Tier = Tier.COGNITIVE
    """Whether it needs a slot."""
    workspace: Workspace | None = None
    """The workspace of the employee, where it owns one."""
    approval_mode: ApprovalMode | None = None
    """The request's own, stricter mode."""
    budget: Budget = Budget()
    """What it may spend, everything below it included: a grant out of what its parent has."""
    deadline: AwareDatetime | None = None
    """UTC."""
    knowledge_scope: tuple[Name, ...] = ()
    """Domains whose knowledge may be used."""
    context: dict[str, Json] = {}
    """Context inherited from above: named facts, no thoughts."""
    chain: tuple[Ancestor, ...] = ()
    """Orders above, the root first."""
    path: str = ""
    """Way from the root order's plan to the step that this order carries out, `settle/pay[0]`; empty for the root."""
    branch: str = ""
    """Innermost branch of a parallel group that it works in, by its whole path; empty outside of every group."""
    authority: CardId | None = None
    """The decided card that this order carries out; the gate compares what runs with what was shown."""
    requested_by: str
    """Who asked for the execution; cannot approve its cards."""
    known_at: AwareDatetime | None = None
    """The order sees only what was known at this moment."""
    language: str = "en"
    """Language of texts made for people."""
    trace_id: str
    """One id from the request to the slot."""


class OrderState(StrEnum):
    """Where an order stands."""

    RUNNING = "running"
    WAITING = "waiting"
    """Nothing can go on until a person answers."""
    DONE = "done"
    PARTIAL = "partial"
    """A limit was reached: results so far, and a request for more."""
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (OrderState.RUNNING, OrderState.WAITING)


class Artifact(Contract):
    """A file or value kept by reference."""

    name: str
    """File name as people see it."""
    media_type: str
    """RFC 6838."""
    sha256: Sha256
    """Of the exact bytes; also its address in the store."""
    size: int = Field(ge=0)
    """Bytes."""


class Limit(StrEnum):
    """What an order stops at with a report of what it has."""

    STEPS = "steps"
    SECONDS = "seconds"
    TOKENS = "tokens"
    MONEY = "money"
    DEADLINE = "deadline"
    """The moment by which it was wanted has passed."""
    ITERATIONS = "iterations"
    """A model was asked as often as one step, or the plan, allows."""
    REPETITIONS = "repetitions"
    """A step was repeated as often as its plan allows, and its check still does not hold."""


class StepLeft(Contract):
    """A step that is not done."""

    step: StepId
    """The step of the plan."""
    done: int = Field(default=0, ge=0)
    """Repetitions or branches of it that are done; their results are kept."""
    missing: int | None = Field(default=None, ge=1)
    """Repetitions or branches of it that are not; None while nobody knows how many there will be."""


class Extension(Contract):
    """What an order that stopped at a limit has done, what is missing, and how much more it asks for."""

    limit: Limit
    """Where it stopped."""
    had: Budget = Budget()
    """What it was allowed."""
    least: Budget = Budget()
    """More than it had: with less than this nothing goes on. Empty where no budget is what is missing."""
    asked: Budget = Budget()
    """More than it had: an estimate of what all that is missing takes, by what is declared and what was done took."""
    done: tuple[StepId, ...] = ()
    """Steps of its plan that are done or were skipped."""
    missing: tuple[StepLeft, ...] = ()
    """The others, in the order of the plan."""


class StatusReport(Contract):
    """How an order stands, or how it ended."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)
    """1.1: `asks`."""
    order_id: OrderId
    """The order it is about."""
    state: OrderState
    """Where it stands."""
    progress: float = Field(default=0.0, ge=0, le=1)
    """Finished steps as a share of all."""
    output: Json = None
    """What the plan gives; only when done or partial."""
    artifacts: tuple[Artifact, ...] = ()
    """Files made on the way."""
    usage: Usage = Usage()
    """Spent so far, descendants included."""
    error: Problem | None = None
    """Why it failed."""
    waiting_for: tuple[CardId | QuestionId, ...] = ()
    """What people have to answer."""
    evidence: tuple[EvidenceId, ...] = ()
    """Sealed packages of this order and those below it."""
    asks: Extension | None = None
    """What it needs to go on; of one that stopped at a limit, which is `partial`."""
