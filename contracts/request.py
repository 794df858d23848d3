"""What an organisation is asked to do."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field, model_validator

from contracts.base import VERSION_PATTERN, Budget, Contract, Json, Name
from contracts.plan import PlanDefinition


class ApprovalMode(StrEnum):
    """How an action passes the approval gate, strictest first."""

    STRICT = "strict"
    """A person decides."""
    THRESHOLD = "threshold"
    """Passes by itself while its impact stays under a limit."""
    POST_HOC = "post_hoc"
    """Acts, then tells; only for actions that can be undone."""

    def stricter(self, other: ApprovalMode) -> ApprovalMode:
        """Return the stricter of the two; a request may only tighten what the organisation says."""
        order = list(ApprovalMode)
        return min(self, other, key=order.index)


class GovernanceTerms(Contract):
    """The terms under which an execution runs."""

    approval_mode: ApprovalMode | None = None
    """May only make the organisation's mode stricter; absent leaves it."""
    budget: Budget = Budget()
    """Limits of the whole execution; the organisation's own limits hold as well."""


class ExecutionRequest(Contract):
    """A goal handed to an organisation."""

    VERSION: ClassVar[str] = "1.2"
    schema_version: str = Field(default="1.2", pattern=VERSION_PATTERN)
    """1.1: steps of its plan may have a budget. 1.2: `caused_by`, `advances`."""
    organisation: Name
    """Who is asked."""
    goal: str = Field(min_length=1, max_length=4_000)
    """What is wanted, in the words of the person."""
    skill: Name | None = None
    """The skill to use; absent, the goal's words decide."""
    plan: PlanDefinition | None = None
    """A plan of the requester's own; absent, the skill's."""
    parameters: dict[str, Json] = {}
    """Values for the plan's parameters."""
    knowledge_scope: tuple[Name, ...] = ()
    """Domains whose knowledge may be used; empty means those of the skill."""
    governance: GovernanceTerms = GovernanceTerms()
    """Approval mode and budgets."""
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)
    """The same key twice is the same execution."""
    requested_by: str = Field(min_length=1, max_length=200)
    """Who asks: a person's id, `sensor/NAME`, or `heartbeat/ORGANISATION`. Whoever asks cannot approve."""
    caused_by: tuple[str, ...] = ()
    """What led to it, the first cause first: sensors (`sensor/NAME`) and executions. None of these sensors is woken by
    what the execution does. Empty for what a person asks."""
    advances: Name | None = None
    """The goal, or the metric, that it brings forward. What a sensor asks for without one is meta work: it looks after
    the organisation itself. Not asked of people."""
    known_at: AwareDatetime | None = None
    """The execution sees only what was known at this moment (UTC); absent means now."""
    priority: int = Field(default=0, ge=-100, le=100)
    """Its orders get a slot before those of a smaller number."""
    language: str = Field(default="en", pattern=r"^[a-z]{2}$")
    """Language of reports and cards."""

    @model_validator(mode="after")
    def _skill_or_plan(self) -> ExecutionRequest:
        if self.skill is not None and self.plan is not None:
            raise ValueError("A request names a skill or brings a plan, not both.")
        return self
