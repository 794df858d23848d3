"""Alerts for the tests of attention."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from contracts import AlertId, Severity
from governance.alerts import AlertState, AlertView, Degree
from tests.governance.alerts.raw import START


def alert(at: datetime = START, **facts: Any) -> AlertView:
    """An open alert that was raised at that moment."""
    told: dict[str, Any] = {
        "alert_id": AlertId.new(), "organisation": "bakery", "source": "sensor/sales", "kind": "threshold",
        "labels": {"source": "sensor/sales", "kind": "threshold"}, "key": "sales:1", "state": AlertState.OPEN,
        "severity": Severity.MEDIUM, "impact": Degree.MEDIUM, "urgency": Degree.MEDIUM, "opened_at": at, "since": at,
        "last_at": at, "route": "default", "version": 1,
    }  # fmt: skip
    return AlertView(**{**told, **facts})
