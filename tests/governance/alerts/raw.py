"""Raw signals and rules for the tests of alerts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from contracts import Severity
from governance.access import Person
from governance.alerts import AlertRules, Level, Matcher, Noted, Route

ORGANISATION = "bakery"
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""A Monday."""
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ANNA = Person("anna", "Anna")


def raw(
    sensor: str = "sales",
    number: int = 0,
    *,
    kind: str = "threshold",
    at: datetime = START,
    severity: Severity = Severity.MEDIUM,
    **labels: str,
) -> Noted:
    """One raw signal; another number makes another key."""
    told = {"sensor": sensor, **labels}
    slice_ = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return Noted(f"sensor/{sensor}", kind, f"{sensor}:{number}:{slice_}", at, severity, told, float(number))


def rules(**facts: object) -> AlertRules:
    """Rules that tell the bakers at once, the head after 15 minutes and the owner after an hour."""
    levels = (Level(("bakers",)), Level(("head",), 15 * MINUTE), Level(("owner",), HOUR))
    route = Route("all", Matcher(), wait=timedelta(0), interval=5 * MINUTE, repeat=4 * HOUR, levels=levels)
    return AlertRules(**{"routes": (route,), **facts})  # type: ignore[arg-type]
