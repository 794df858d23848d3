"""An approval rule of the organisation: who decides, in which time, and what then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts import ApprovalMode, Name, WorkingHours
from governance.approvals.working_hours import moment_after

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
    """The loosest way in which its actions may be decided; what holds for one of them, `modes` says."""
    may_loosen: bool = True
    """Whether a looser mode counts that people approved after a long row of right ones; without, `mode` holds as is."""
    impact: str | None = None
    """Expression over `use`, `arguments` and `effect` that gives how much hangs on an action."""
    under: float | None = None
    """Actions whose impact is smaller may pass by themselves, in the modes threshold and post_hoc."""
    undo_within_s: float = 86_400.0
    """How long what passed by itself may be taken back; the setting `approval.undo_s` where the rule says nothing."""
    hours: WorkingHours | None = None
    """Deadlines are counted in these hours; absent means day and night."""

    def __post_init__(self) -> None:
        if not self.who:
            raise ValueError(f"The approval rule {self.name} names nobody; give `who` a person or a group.")
        if self.within_s <= 0:
            raise ValueError(f"The approval rule {self.name} gives no time; `within` must be longer than nothing.")
        if self.quorum < 1:
            raise ValueError(f"The approval rule {self.name} has a quorum of {self.quorum}; it takes at least 1.")

    def deadline(self, raised_at: datetime) -> datetime:
        """Return when a card raised at that moment expires; counted in real seconds, whatever clocks do meanwhile."""
        return moment_after(raised_at, self.within_s, self.hours)

    def reminder(self, raised_at: datetime) -> datetime:
        """Return when half of that time has passed."""
        return moment_after(raised_at, self.within_s / 2, self.hours)


def rule_for(rules: Mapping[str, ApprovalRule], policy: str | None) -> ApprovalRule | None:
    """Return the rule of that name, the default one where no name is given, or None: then nothing may happen."""
    return rules.get(DEFAULT_RULE if policy is None else policy)
