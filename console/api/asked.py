"""What the HTTP API takes: checked when it comes in, and part of the OpenAPI description."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, Field

from console.api.model import ApiModel
from console.views import Mode
from contracts import Budget, Json, Name
from contracts.base import LANGUAGE_PATTERN
from contracts.ids import ULID_PATTERN


class Acting(ApiModel):
    """Who acts; a token of a person acts as that person and as nobody else."""

    as_: Name | None = Field(default=None, alias="as", examples=["duty-planner"])
    """The person that acts, as named in org.yaml; only an administrator's token may name one."""


class Cancelling(Acting):
    """What is to stop, and who says so."""

    branch: str | None = Field(default=None, max_length=1_000, examples=["look/first"])
    """Only this branch of a parallel group, by its path; the rest goes on."""


class Resuming(Acting):
    """Who has an execution go on, and with what."""

    budget: Budget = Budget()
    """Limits that hold from now on in place of its own, for one that failed or reached a limit; others stay."""


class NewExecution(Acting):
    """A goal for an organisation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "organisation": "three-airports",
                    "goal": "Why were so many flights cancelled?",
                    "parameters": {"airport": "EWR"},
                    "at": "2013-02-08T17:00",
                }
            ]
        }
    )

    organisation: Name | None = None
    """Who is asked; may be left out where the token belongs to one organisation."""
    goal: str = Field(min_length=1, max_length=4_000)
    """What is wanted, in the words of the person."""
    skill: Name | None = None
    """The skill to use; else the goal's words decide."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """Values for the parameters of the skill's plan."""
    at: datetime | None = None
    """See only what was known then: with an offset that moment, without one local time of the organisation."""
    language: str | None = Field(default=None, pattern=LANGUAGE_PATTERN)
    """Language of reports and cards; else the organisation's."""
    budget: Budget = Budget()
    """What may be spent at most; the organisation's own limits hold as well."""
    priority: int = Field(default=0, ge=-100, le=100)
    """Its orders get a slot before those of a smaller number."""
    mode: Mode = "auto"
    """What becomes of a goal that no skill is named for, where a model is set: `plan` has it make one, `answer` has it
    answer in words, `auto` does what the goal's complexity says when no skill fits."""
    strict: bool = False
    """Every effect waits for a person, whatever the organisation allows."""


class NewAnswer(Acting):
    """The answer of a person to a question."""

    value: str = Field(min_length=1, max_length=20_000, examples=["yes"])
    """What the person says; one of the choices, where the question has some."""


class Paging(ApiModel):
    """Which page of a list."""

    organisation: Name | None = None
    """Only those of this organisation."""
    limit: int = Field(default=50, ge=1, le=200)
    """How many at most."""
    cursor: str | None = Field(default=None, pattern=ULID_PATTERN)
    """`next` of the page before."""
