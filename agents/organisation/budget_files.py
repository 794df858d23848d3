"""What `budgets` of org.yaml may say: what a department or a process may spend in a day, a week or a month."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, model_validator

from agents.organisation.declared import Declared, Duration, money_of
from contracts import Budget, Money, Name
from runtime.engine.shared_budget import Period, SharedBudget


class SharedBudgetEntry(Declared):
    """What everybody of a department, or every order of a process, may spend together."""

    department: Name | None = None
    """An employee, with everybody below."""
    process: Name | None = None
    """A skill, with everything that it has others do."""
    per: Period
    """`day`, `week` or `month`, by the organisation's time zone."""
    money: Annotated[Money | None, BeforeValidator(money_of)] = None
    """Costs, written as `5 USD`."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens of models."""
    seconds: Duration | None = Field(default=None, gt=0)
    """Time of work."""

    @model_validator(mode="after")
    def _whole(self) -> SharedBudgetEntry:
        if (self.department is None) == (self.process is None):
            raise ValueError("A budget is that of a `department` or of a `process`; name one of the two.")
        if self.money is None and self.tokens is None and self.seconds is None:
            raise ValueError("A budget limits `money`, `tokens` or `seconds`.")
        return self

    @property
    def owner(self) -> tuple[str, Name]:
        """Whose it is: the kind and the name."""
        return ("department", self.department) if self.department is not None else ("process", self.process or "")

    def budget(self, zone: ZoneInfo) -> SharedBudget:
        """Return it as the engine takes it."""
        kind, owner = self.owner
        limits = Budget(money=self.money, tokens=self.tokens, seconds=self.seconds)
        return SharedBudget(kind, owner, self.per, limits, zone)


def doubled(entries: Sequence[SharedBudgetEntry]) -> Iterator[int]:
    """Yield which entries are a second one for the same owner and period."""
    seen = set()
    for number, entry in enumerate(entries):
        key = (*entry.owner, entry.per)
        if key in seen:
            yield number
        seen.add(key)
