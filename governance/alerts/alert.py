"""How an alert stands: one transition table, and what is known of an alert.

That nobody is told of an alert (silenced, inhibited, under maintenance, flapping) is no state: it stands as it does,
with the reasons beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from contracts import AlertId, Json, Severity
from governance.alerts.priority import PRIORITY, Degree
from governance.errors import IllegalTransition


class AlertState(StrEnum):
    """Where an alert stands."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    """Somebody has taken it on; nobody else is called."""
    RESOLVED = "resolved"
    """It is over, and the same one when it comes back soon."""
    CLOSED = "closed"
    """Over for good: what comes after is another alert."""


class AlertMove(StrEnum):
    """What may happen to an alert."""

    GROW = "grow"
    """More signals of the same kind."""
    WORSEN = "worsen"
    """Signals that are more severe than before: whoever took it on did not know."""
    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"
    REOPEN = "reopen"
    CLOSE = "close"


LIFE: Mapping[tuple[AlertState, AlertMove], AlertState] = {
    (AlertState.OPEN, AlertMove.GROW): AlertState.OPEN,
    (AlertState.OPEN, AlertMove.WORSEN): AlertState.OPEN,
    (AlertState.OPEN, AlertMove.ACKNOWLEDGE): AlertState.ACKNOWLEDGED,
    (AlertState.OPEN, AlertMove.RESOLVE): AlertState.RESOLVED,
    (AlertState.ACKNOWLEDGED, AlertMove.GROW): AlertState.ACKNOWLEDGED,
    (AlertState.ACKNOWLEDGED, AlertMove.WORSEN): AlertState.OPEN,
    (AlertState.ACKNOWLEDGED, AlertMove.RESOLVE): AlertState.RESOLVED,
    (AlertState.RESOLVED, AlertMove.REOPEN): AlertState.OPEN,
    (AlertState.RESOLVED, AlertMove.CLOSE): AlertState.CLOSED,
}
"""Every move there is. Only a person acknowledges, and nothing leads out of closed."""


def state_after(state: AlertState, move: AlertMove) -> AlertState:
    """Return where `move` leads; raise IllegalTransition when the table has no such row."""
    try:
        return LIFE[state, move]
    except KeyError:
        raise IllegalTransition(
            f"An alert that is {state} takes no {move}.", state=state.value, move=move.value
        ) from None


def diagram() -> str:
    """Return the table as a Mermaid state diagram; docs/alerts.md shows it."""
    rows = [f"    {state} --> {to}: {move}" for (state, move), to in LIFE.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {AlertState.OPEN}: raise", *rows, "    closed --> [*]"])


class HushReason(StrEnum):
    """Why nobody is told of an alert."""

    SILENCED = "silenced"
    """A person silenced it."""
    MAINTENANCE = "maintenance"
    INHIBITED = "inhibited"
    """Another alert explains it."""
    FLAPPING = "flapping"
    """It goes on and off; that was told once."""


@dataclass(frozen=True, slots=True)
class Hush:
    """One reason, and whose."""

    reason: HushReason
    by: str
    """The silence, window, rule with the other alert, or count of changes."""
    until: datetime | None = None
    """When it ends, where that is known."""

    def to_json(self) -> dict[str, Json]:
        """Return it as it is stored."""
        told: dict[str, Json] = {"reason": self.reason.value, "by": self.by}
        return told if self.until is None else {**told, "until": self.until.isoformat()}


class Resolution(StrEnum):
    """How an alert ended."""

    CLEARED = "cleared"
    """Its source says so."""
    QUIET = "quiet"
    """Nothing was heard of it for long enough."""
    PERSON = "person"


class Counted(NamedTuple):
    """When a signal that has a key was counted."""

    says: datetime
    """The moment that it speaks about."""
    at: datetime
    """When it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertView:
    """An alert and what happened to it."""

    alert_id: AlertId
    organisation: str
    source: str
    kind: str
    labels: Mapping[str, str]
    """With `source` and `kind` among them."""
    key: str
    """Key of the signal that raised it."""
    state: AlertState
    severity: Severity
    """The worst so far."""
    impact: Degree
    urgency: Degree
    opened_at: datetime
    """When it was raised."""
    since: datetime
    """When it began to wait for somebody: raised, come back or worsened."""
    last_at: datetime
    """When a signal of it came last."""
    route: str
    version: int
    """Events of its stream that are folded in."""
    signals: int = 1
    """Signals that were merged into it, those that only repeat one not counted."""
    duplicates: int = 0
    says: datetime | None = None
    """The latest moment that a signal of it speaks about."""
    value: float | None = None
    """The latest."""
    about: str = ""
    """What it speaks about, the latest."""
    hushes: tuple[Hush, ...] = ()
    heard_since: datetime | None = None
    """Since when it is hushed no more, where it was."""
    changes: tuple[datetime, ...] = ()
    """When it came and went, as far as flapping looks back."""
    flapping: bool = False
    flapping_untold: bool = False
    """Whether nobody was told yet that it flaps."""
    news_at: datetime | None = None
    """Since when there is something that was not told."""
    told_at: datetime | None = None
    told_to: tuple[str, ...] = ()
    level: int = -1
    """The highest level that was told since it began to wait; −1 for none."""
    attended_at: datetime | None = None
    """When attention was last given to it."""
    acknowledged_by: str | None = None
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    resolution: Resolution | None = None
    reason: str = ""
    """What a person said of it last."""
    recent: Mapping[str, Counted] = field(default_factory=dict, repr=False)
    """Keys of the latest signals, as short hashes."""

    @property
    def is_live(self) -> bool:
        """Whether it goes on: open or acknowledged."""
        return self.state in (AlertState.OPEN, AlertState.ACKNOWLEDGED)

    @property
    def priority(self) -> int:
        """1 to 5, 1 is the most pressing."""
        return PRIORITY[self.impact, self.urgency]

    @property
    def is_audible(self) -> bool:
        """Whether people may be told of it now; that it flaps is told once."""
        return all(hush.reason is HushReason.FLAPPING for hush in self.hushes) and (
            not self.flapping or self.flapping_untold
        )

    @property
    def waits_since(self) -> datetime:
        """From when levels of escalation are counted."""
        return self.since if self.heard_since is None else max(self.since, self.heard_since)
