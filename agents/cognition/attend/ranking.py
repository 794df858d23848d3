"""Which alerts are seen to first: severity, timeliness, impact, and how long each has waited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts import Severity
from governance.alerts import AlertState, AlertView, Degree, HushReason
from runtime.settings import AttentionSettings

_HOUR_S = 3_600
SEVERITY: Mapping[Severity, float] = {
    Severity.CRITICAL: 1.0,
    Severity.HIGH: 0.7,
    Severity.MEDIUM: 0.4,
    Severity.LOW: 0.1,
}
DEGREE: Mapping[Degree, float] = {Degree.HIGH: 1.0, Degree.MEDIUM: 0.6, Degree.LOW: 0.2}
"""What impact and urgency count, as shares of their weights."""


class LeftOutWhy(StrEnum):
    """Why an alert is not seen to in this round."""

    SILENCED = HushReason.SILENCED.value
    MAINTENANCE = HushReason.MAINTENANCE.value
    INHIBITED = HushReason.INHIBITED.value
    FLAPPING = HushReason.FLAPPING.value
    ACKNOWLEDGED = "acknowledged"
    """A person has it."""
    OVER = "over"
    """It is resolved."""
    SEEN_TO = "seen_to"
    """It was seen to, and has neither grown worse nor come back since."""
    NO_ROOM = "no_room"
    """Others came first; it waits, and counts more with each hour."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An alert with what it counts."""

    alert: AlertView
    score: float
    parts: Mapping[str, float]
    """`severity`, `timeliness`, `impact`, `waiting`: what the score is the sum of."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An alert that is not seen to now, and why."""

    alert: AlertView
    why: LeftOutWhy
    by: str = ""
    """Whose doing: the silence, window, rule or person."""
    ranked: Ranked | None = None
    """What it counts, where only room was missing."""


@dataclass(frozen=True, slots=True)
class Attended:
    """What attention is given to in one round."""

    at: datetime
    order: tuple[Ranked, ...] = ()
    """What is seen to, the first first."""
    left_out: tuple[LeftOut, ...] = ()
    """Everything else, each with the reason; what only lacked room comes first, in its order."""


def rank(alerts: Sequence[AlertView], at: datetime, settings: AttentionSettings | None = None) -> Attended:
    """Return in which order alerts are seen to, and what is left out. It is a function of its arguments alone.

    Three parts of the score are bounded by their weights, the fourth grows with every hour of waiting: an alert that
    waits comes before every newer one after at most (sum of the weights ÷ `ageing_per_h`) hours.
    """
    settings = settings or AttentionSettings()
    waiting: list[Ranked] = []
    passed: list[LeftOut] = []
    for alert in alerts:
        out = _left_out(alert)
        if out is None:
            waiting.append(score(alert, at, settings))
        else:
            passed.append(out)
    ordered = sorted(waiting, key=lambda each: (-each.score, each.alert.since, each.alert.key))
    no_room = [LeftOut(each.alert, LeftOutWhy.NO_ROOM, ranked=each) for each in ordered[settings.at_once :]]
    return Attended(at, tuple(ordered[: settings.at_once]), (*no_room, *_in_order(passed)))


def score(alert: AlertView, at: datetime, settings: AttentionSettings) -> Ranked:
    """Return what an alert counts, with the parts."""
    quiet_s = max((at - alert.last_at).total_seconds(), 0.0)
    waited_s = max((at - alert.waits_since).total_seconds(), 0.0)
    fresh = 0.5 ** (quiet_s / settings.half_life_s)
    parts = {
        "severity": settings.severity_weight * SEVERITY[alert.severity],
        "timeliness": settings.timeliness_weight * DEGREE[alert.urgency] * fresh,
        "impact": settings.impact_weight * DEGREE[alert.impact],
        "waiting": settings.ageing_per_h * waited_s / _HOUR_S,
    }
    return Ranked(alert, sum(parts.values()), parts)


def _left_out(alert: AlertView) -> LeftOut | None:
    if not alert.is_live:
        return LeftOut(alert, LeftOutWhy.OVER)
    if alert.hushes:
        return LeftOut(alert, LeftOutWhy(alert.hushes[0].reason.value), alert.hushes[0].by)
    if alert.state is AlertState.ACKNOWLEDGED:
        return LeftOut(alert, LeftOutWhy.ACKNOWLEDGED, alert.acknowledged_by or "")
    if alert.attended_at is not None and alert.attended_at >= alert.since:
        return LeftOut(alert, LeftOutWhy.SEEN_TO)
    return None


def _in_order(passed: Iterable[LeftOut]) -> list[LeftOut]:
    return sorted(passed, key=lambda each: (each.why.value, each.alert.opened_at, each.alert.key))
