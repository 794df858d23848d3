"""What one employee asks of another, and what comes back."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from contracts.base import Budget, Contract, Json, Name, Sha256, StepId, Usage
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


class TaskOrder(Contract):
    """One piece of work handed to one employee."""

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
    tier: Tier = Tier.COGNITIVE
    """Whether it needs a slot."""
    approval_mode: ApprovalMode | None = None
    """The request's own, stricter mode."""
    budget: Budget = Budget()
    """Its share of the parent's budget."""
    deadline: AwareDatetime | None = None
    """UTC."""
    knowledge_scope: tuple[Name, ...] = ()
    """Domains whose knowledge may be used."""
    context: dict[str, Json] = {}
    """Context inherited from above: named facts, no thoughts."""
    chain: tuple[Ancestor, ...] = ()
    """Orders above, the root first."""
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


class StatusReport(Contract):
    """How an order stands, or how it ended."""

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
