"""What the HTTP API takes about decision cards."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from console.api.asked import Acting
from contracts import Json, Name, Sha256, StepId
from contracts.ids import ULID_PATTERN


class NewDecision(Acting):
    """What a person decides: a yes to one option, or a no to all of them."""

    approve: bool = Field(strict=True, examples=[True])
    """Only true is a yes."""
    option: StepId | None = Field(default=None, examples=["mark_bad"])
    """The option chosen; a no names none."""
    reason: str = Field(default="", max_length=4_000, examples=["as the station says"])
    """Why, in the person's words; a no has to say it."""
    output: dict[str, Json] | None = None
    """What an effect gave that happened, where the person knows and the card names fields for it."""
    card_sha256: Sha256
    """Hash of the card that was shown; a card that was edited since is not decided by it."""


class NewEdit(Acting):
    """Other arguments for an option."""

    option: StepId = Field(examples=["mark_bad"])
    """The option."""
    changes: list[dict[str, Json] | None] = Field(min_length=1, max_length=20)
    """For each of its actions, in order, the arguments that change; null leaves them."""
    reason: str = Field(default="", max_length=4_000)
    """Why, in the person's words."""


class NewDecisions(Acting):
    """One decision about several cards of one kind."""

    cards: list[str] = Field(min_length=1, max_length=1_000)
    """The cards, by the part of their ids after the slash."""
    approve: bool = Field(strict=True)
    """Only true is a yes."""
    option: StepId | None = None
    """The option chosen; a no names none."""
    reason: str = Field(default="", max_length=4_000)
    """Why; a no has to say it."""


class NewUndo(Acting):
    """That what a card brought about is to be taken back."""

    reason: str = Field(default="", max_length=4_000)
    """Why, in the person's words."""


class NewReview(Acting):
    """Whether what was approved was right."""

    verdict: Literal["right", "serious"]
    """`serious`: it was a serious error."""
    reason: str = Field(default="", max_length=4_000)
    """Why; an error has to say it."""


class NewDelegation(Acting):
    """Who may decide whose cards for a while."""

    organisation: Name | None = None
    """Whose people; may be left out where the token belongs to one organisation."""
    giver: Name | None = None
    """Whose cards; absent means those of whoever acts."""
    taker: Name
    """Who may decide them."""
    starts: str | None = Field(default=None, max_length=40, examples=["2026-12-21"])
    """A day, or a local time of the organisation; absent means now."""
    ends: str = Field(max_length=40, examples=["2027-01-02"])
    """The last day, or a local time."""
    policies: list[Name] = Field(default_factory=list, max_length=100)
    """Approval rules whose cards are meant; empty means all."""
    reason: str = Field(default="", max_length=1_000)
    """Why."""


__all__ = ["ULID_PATTERN", "NewDecision", "NewDecisions", "NewDelegation", "NewEdit", "NewReview", "NewUndo"]
