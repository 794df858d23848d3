"""What time does to alerts: they flap and grow steady, are over when nothing is heard of them, and close."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from contracts import AlertId
from governance.alerts.alert import AlertState, AlertView, Resolution
from governance.alerts.draft import Drafts
from governance.alerts.rules import AlertRules, Flapping


def pass_time(drafts: Drafts, at: datetime, rules: AlertRules) -> list[AlertId]:
    """Let time have its effect up to `at`; return the alerts that are over by it."""
    over = []
    for view in list(drafts):
        _flap(drafts, view, at, rules.flapping)
        if view.is_live and at - view.last_at >= rules.resolve_after:
            drafts.of(view.alert_id).emit("alert.resolved", at, how=Resolution.QUIET.value)
            over.append(view.alert_id)
        elif _is_gone(view, at, rules):
            drafts.of(view.alert_id).emit("alert.closed", at)
    return over


def _flap(drafts: Drafts, view: AlertView, at: datetime, flapping: Flapping) -> None:
    changes = changes_inside(view.changes, at, flapping.window)
    if not view.flapping and changes >= flapping.begins:
        drafts.of(view.alert_id).emit("alert.flapped", at, changes=changes)
    elif view.flapping and changes <= flapping.ends:
        drafts.of(view.alert_id).emit("alert.steadied", at, changes=changes)


def changes_inside(changes: Sequence[datetime], at: datetime, window: timedelta) -> int:
    """Return how often an alert came or went inside the window before `at`."""
    return sum(at - window < each <= at for each in changes)


def _is_gone(view: AlertView, at: datetime, rules: AlertRules) -> bool:
    """Whether it has been over for so long that it would be another one if it came back."""
    if view.state is not AlertState.RESOLVED or view.resolved_at is None:
        return False
    return at - view.resolved_at >= rules.flapping.window
