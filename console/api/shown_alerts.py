"""What the HTTP API gives of alerts, silences and attention."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.views_alerts import AlertEvent, AlertRow, AlertsShown, AttentionShown, SilenceRow
from contracts import AlertId, Json, Name, Severity, SilenceId
from governance.alerts import AlertState, Degree, HushReason, Resolution

ALERT = "alert/01JB0000000000000000000ART"
SILENCE = "silence/01JB0000000000000000000SLN"


class HushShown(ApiModel):
    """One reason why nobody is told of an alert."""

    reason: HushReason
    """Which kind it is."""
    by: str
    """The silence, the window, the rule with the other alert, or the count of changes."""
    until: AwareDatetime | None = None
    """When it ends, where that is known."""


class AlertShown(ApiModel):
    """One alert."""

    alert_id: AlertId = Field(examples=[ALERT])
    """Its id; the part after the slash stands in addresses."""
    state: AlertState
    """How it stands; that nobody is told is no state."""
    priority: int = Field(ge=1, le=5)
    """Impact × urgency, 1 is the most pressing."""
    severity: Severity
    """The worst so far."""
    impact: Degree
    """How much depends on it."""
    urgency: Degree
    """How soon it matters."""
    source: str = Field(examples=["sensor/cancellations"])
    """Who noticed."""
    kind: str = Field(examples=["threshold"])
    """What it says."""
    labels: dict[str, str]
    """What rules match, group and inhibit by."""
    about: str = ""
    """What it speaks about, the latest."""
    value: float | None = None
    """The latest value; absent means missing, which is not zero."""
    signals: int
    """Signals that were merged into it."""
    duplicates: int
    """Signals that only repeated one."""
    opened_at: AwareDatetime
    """When it was raised."""
    last_at: AwareDatetime
    """When a signal of it came last."""
    hushes: tuple[HushShown, ...] = ()
    """Why nobody is told, where that is so."""
    route: str
    """The route that took it."""
    told_to: tuple[str, ...] = ()
    """People and groups that were told."""
    told_at: AwareDatetime | None = None
    """When they were told last."""
    level: int
    """The highest level of escalation that was told; −1 for none."""
    acknowledged_by: str | None = None
    """Who took it on."""
    acknowledged_at: AwareDatetime | None = None
    """When."""
    attended_at: AwareDatetime | None = None
    """When attention was last given to it."""
    resolved_at: AwareDatetime | None = None
    """When it was over."""
    resolution: Resolution | None = None
    """How it ended."""
    reason: str = ""
    """What a person said of it last."""

    @classmethod
    def of(cls, row: AlertRow) -> AlertShown:
        """Return the alert as it is given."""
        shown = {name: getattr(row, name) for name in cls.model_fields}
        hushes = tuple(HushShown(reason=each.reason, by=each.by, until=each.until) for each in row.hushes)
        return cls(**{**shown, "labels": dict(row.labels), "hushes": hushes})


class SilenceShown(ApiModel):
    """One silence."""

    silence_id: SilenceId = Field(examples=[SILENCE])
    """Its id; the part after the slash stands in addresses."""
    match: dict[str, tuple[str, ...]]
    """Label → what it must be: one of these, `*` for any part."""
    by: Name
    """Who made it."""
    reason: str
    """Why."""
    begins: AwareDatetime
    """When it was made."""
    until: AwareDatetime
    """When it ends."""
    lifted_by: Name | None = None
    """Who ended it before that."""

    @classmethod
    def of(cls, row: SilenceRow) -> SilenceShown:
        """Return the silence as it is given."""
        return cls(**{**{name: getattr(row, name) for name in cls.model_fields}, "match": dict(row.match)})


class AlertList(ApiModel):
    """The alerts of one organisation."""

    at: AwareDatetime
    """The moment at which they stand so."""
    alerts: tuple[AlertShown, ...]
    """Those that people hear of first, the most pressing first."""
    silences: tuple[SilenceShown, ...]
    """Silences that hold; none for whoever sees departments only."""

    @classmethod
    def of(cls, shown: AlertsShown) -> AlertList:
        """Return them as they are given."""
        return cls(
            at=shown.at,
            alerts=tuple(map(AlertShown.of, shown.alerts)),
            silences=tuple(map(SilenceShown.of, shown.silences)),
        )


class HappenedShown(ApiModel):
    """Something that happened to an alert."""

    type: str = Field(examples=["alert.told"])
    """What."""
    at: AwareDatetime
    """When."""
    facts: dict[str, Json]
    """What is known of it."""


class AlertWithHistory(ApiModel):
    """One alert with everything that happened to it."""

    alert: AlertShown
    """How it stands."""
    history: tuple[HappenedShown, ...]
    """Oldest first."""

    @classmethod
    def of(cls, row: AlertRow, history: Sequence[AlertEvent]) -> AlertWithHistory:
        """Return it as it is given."""
        happened = (HappenedShown(type=each.type, at=each.at, facts=dict(each.facts)) for each in history)
        return cls(alert=AlertShown.of(row), history=tuple(happened))


class RankedShown(ApiModel):
    """An alert that comes first, with what it counts."""

    alert: AlertShown
    """The alert."""
    score: float
    """The sum of its parts."""
    parts: dict[str, float]
    """`severity`, `timeliness`, `impact`, `waiting`."""


class LeftOutShown(ApiModel):
    """An alert that is not seen to now."""

    alert: AlertShown
    """The alert."""
    why: str = Field(examples=["no_room"])
    """Why."""
    by: str = ""
    """Whose doing."""


class RateShown(ApiModel):
    """How often a sensor looks, where it began otherwise."""

    sensor: Name
    """Which."""
    every_s: float
    """Seconds between two looks."""
    because: str = Field(examples=["anomalies"])
    """Why it was changed last."""
    since: AwareDatetime | None = None
    """When."""


class AttentionOf(ApiModel):
    """What would be seen to in the next round."""

    at: AwareDatetime
    """The moment."""
    order: tuple[RankedShown, ...]
    """The first first."""
    left_out: tuple[LeftOutShown, ...]
    """Everything else, each with the reason."""
    rates: tuple[RateShown, ...]
    """Sensors that look more or less often than they began."""

    @classmethod
    def of(cls, shown: AttentionShown) -> AttentionOf:
        """Return it as it is given."""
        return cls(
            at=shown.at,
            order=tuple(
                RankedShown(alert=AlertShown.of(each.alert), score=each.score, parts=dict(each.parts))
                for each in shown.order
            ),
            left_out=tuple(
                LeftOutShown(alert=AlertShown.of(each.alert), why=each.why, by=each.by) for each in shown.left_out
            ),
            rates=tuple(
                RateShown(sensor=each.sensor, every_s=each.every_s, because=each.because, since=each.since)
                for each in shown.rates
            ),
        )
