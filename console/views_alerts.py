"""What faces show of alerts, silences and attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import AlertId, Json, Name, Severity, SilenceId

if TYPE_CHECKING:  # every command imports this page, and few are about alerts
    from agents.cognition.attend import Attended, LeftOut, Ranked, Rate
    from governance.alerts import AlertState, AlertView, Degree, Hush, Resolution, Silence


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """One alert."""

    alert_id: AlertId
    state: AlertState
    priority: int
    """1 to 5, 1 is the most pressing."""
    severity: Severity
    impact: Degree
    urgency: Degree
    source: str
    kind: str
    labels: Mapping[str, str]
    about: str
    """What it speaks about, the latest."""
    value: float | None
    signals: int
    """Signals that were merged into it."""
    duplicates: int
    """Signals that only repeated one."""
    opened_at: datetime
    last_at: datetime
    hushes: tuple[Hush, ...]
    """Why nobody is told, where that is so."""
    route: str
    told_to: tuple[str, ...]
    told_at: datetime | None
    level: int
    """The highest level of escalation that was told; −1 for none."""
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    attended_at: datetime | None
    """When it was seen to."""
    resolved_at: datetime | None
    resolution: Resolution | None
    reason: str
    """What a person said of it last."""

    @classmethod
    def of(cls, view: AlertView) -> AlertRow:
        """Return the alert as faces show it."""
        return cls(**{each.name: getattr(view, each.name) for each in fields(cls)})


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """Something that happened to an alert."""

    type: str
    at: datetime
    facts: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SilenceRow:
    """One silence."""

    silence_id: SilenceId
    match: Mapping[str, tuple[str, ...]]
    by: Name
    reason: str
    begins: datetime
    until: datetime
    lifted_by: Name | None = None

    @classmethod
    def of(cls, silence: Silence) -> SilenceRow:
        """Return the silence as faces show it."""
        return cls(
            silence.silence_id, silence.match.wanted, silence.by, silence.reason, silence.begins, silence.until,
            silence.lifted_by,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AlertsShown:
    """The alerts of one organisation at one moment."""

    at: datetime
    alerts: tuple[AlertRow, ...]
    """The most pressing first."""
    silences: tuple[SilenceRow, ...]
    """Those that hold."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """An alert that is seen to, with what it counts."""

    alert: AlertRow
    score: float
    parts: Mapping[str, float]

    @classmethod
    def of(cls, ranked: Ranked) -> RankedRow:
        """Return it as faces show it."""
        return cls(AlertRow.of(ranked.alert), ranked.score, ranked.parts)


@dataclass(frozen=True, slots=True)
class LeftOutRow:
    """An alert that is not seen to, and why."""

    alert: AlertRow
    why: str
    by: str

    @classmethod
    def of(cls, out: LeftOut) -> LeftOutRow:
        """Return it as faces show it."""
        return cls(AlertRow.of(out.alert), out.why.value, out.by)


@dataclass(frozen=True, slots=True)
class RateRow:
    """How often a sensor looks."""

    sensor: Name
    every_s: float
    because: str
    since: datetime | None

    @classmethod
    def of(cls, rate: Rate) -> RateRow:
        """Return it as faces show it."""
        return cls(rate.sensor, rate.every.total_seconds(), rate.because.value, rate.since)


@dataclass(frozen=True, slots=True)
class AttentionShown:
    """What would be seen to in the next round, and what would not."""

    at: datetime
    order: tuple[RankedRow, ...]
    left_out: tuple[LeftOutRow, ...]
    rates: tuple[RateRow, ...]
    """Rates of sensors that differ from the one they began with."""

    @classmethod
    def of(cls, attended: Attended, rates: Mapping[Name, Rate]) -> AttentionShown:
        """Return it as faces show it."""
        return cls(
            attended.at, tuple(map(RankedRow.of, attended.order)), tuple(map(LeftOutRow.of, attended.left_out)),
            tuple(RateRow.of(rates[name]) for name in sorted(rates)),
        )  # fmt: skip
