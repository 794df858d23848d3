"""Whose cards somebody else may decide for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import AwareDatetime, Field, model_validator

from contracts.base import Contract, Name
from contracts.ids import DelegationId


class Delegation(Contract):
    """One person's cards, handed to another for some time. It is not passed on further."""

    delegation_id: DelegationId
    """Its name."""
    organisation: Name
    """Whose people they are."""
    giver: Name
    """Whose cards they are; may go on deciding them."""
    taker: Name
    """Who may decide them meanwhile, on the giver's behalf, with a role that decides."""
    policies: tuple[Name, ...] = ()
    """Approval rules whose cards are meant; empty means all."""
    starts_at: AwareDatetime
    """UTC."""
    ends_at: AwareDatetime
    """UTC; from then on it holds no more."""
    by: Name
    """Who recorded it: the giver, or an administrator."""
    at: AwareDatetime
    """When it was recorded, UTC."""
    via: str
    """From where."""
    reason: str = Field(default="", max_length=1_000)
    """In that person's words."""
    ended_at: AwareDatetime | None = None
    """UTC; when it was ended before its time."""

    @model_validator(mode="after")
    def _is_between_two(self) -> Self:
        if self.giver == self.taker:
            raise ValueError("Nobody delegates to themselves.")
        if self.ends_at <= self.starts_at:
            raise ValueError("It ends before it starts.")
        return self

    def holds(self, now: datetime, policy: str) -> bool:
        """Whether cards of that approval rule may be decided by it now."""
        over = self.ended_at is not None and now >= self.ended_at
        return self.starts_at <= now < self.ends_at and not over and (not self.policies or policy in self.policies)
