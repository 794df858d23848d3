"""What comes in: something that was noticed, by a sensor or by anything else that watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from contracts import Severity, Signal

CLEARED = "cleared"
"""The kind that says that something is over."""
BLIND = frozenset({"no_data", "not_enough_history", "sensor_failed"})
"""Kinds of a source that could not see; whatever it says of what it sees shows that it can again."""
FROM_SIGNAL = ("sensor", "metric")
"""Labels that every alert of a sensor has beside its kind and the dimensions of its slice."""

RANK: Mapping[Severity, int] = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2, Severity.CRITICAL: 3}
"""How severities compare."""


@dataclass(slots=True)  # not frozen: of these there are thousands, and that would take three times as long to make
class Noted:
    """One raw signal, whoever it came from. What agrees in source, kind and labels is about the same thing."""

    source: str
    """Who noticed: `sensor/cancellations`, `release/01J9…`, …"""
    kind: str
    """What it says: `threshold`, `no_data`, … `cleared` ends the alert of the same source and labels."""
    key: str
    """What has the same key inside the window is the same signal."""
    at: datetime
    """The moment it speaks about, UTC."""
    severity: Severity = Severity.MEDIUM
    labels: Mapping[str, str] = field(default_factory=dict)
    """What rules may match, group and inhibit by."""
    value: float | None = None
    """What was measured; absent means missing, which is not zero."""
    about: str = ""
    """The period or the words, for people: `2013-02-08`."""
    signal: Signal | None = None
    """The signal itself, where it is one."""


def noted(signal: Signal) -> Noted:
    """Return what a sensor's signal says; its dimensions become labels."""
    labels = {name: str(value) for name, value in signal.dimensions.items()}
    labels["sensor"] = signal.sensor
    if signal.metric is not None:
        labels["metric"] = signal.metric
    return Noted(
        f"sensor/{signal.sensor}", signal.kind.value, signal.key, signal.at, signal.severity, labels, signal.value,
        signal.bucket or "", signal,
    )  # fmt: skip
