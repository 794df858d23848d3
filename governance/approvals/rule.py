"""An approval rule of the organisation: who decides, in which time, and what then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts import ApprovalMode, Name

DEFAULT_RULE = "default"
"""The rule for effects whose capability names none."""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """One entry of `approvals` in org.yaml."""

    name: Name
    who: tuple[Name, ...]
    """People or groups that may decide."""
    within_s: float = 86_400.0
    """Seconds until a card expires or is passed on; the setting `approvals.within_s` where the rule says nothing."""
    escalate_to: tuple[Name, ...] = ()
    """People or groups that get the card after its deadline, once, with as much time again."""
    quorum: int = 1
    """How many different people have to choose the same option."""
    mode: ApprovalMode = ApprovalMode.STRICT

    def __post_init__(self) -> None:
        if not self.who:
            raise ValueError(f"The approval rule {self.name} names nobody; give `who` a person or a group.")
        if self.within_s <= 0:
            raise ValueError(f"The approval rule {self.name} gives no time; `within` must be longer than nothing.")
        if self.quorum < 1:
            raise ValueError(f"The approval rule {self.name} has a quorum of {self.quorum}; it takes at least 1.")

    def deadline(self, raised_at: datetime) -> datetime:
        """Return when a card raised at that moment expires; counted in real seconds, whatever clocks do meanwhile."""
        return raised_at + timedelta(seconds=self.within_s)


def rule_for(rules: Mapping[str, ApprovalRule], policy: str | None) -> ApprovalRule | None:
    """Return the rule of that name, the default one where no name is given, or None: then nothing may happen."""
    return rules.get(DEFAULT_RULE if policy is None else policy)
