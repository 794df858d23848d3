"""The fold of an alert's stream over its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from contracts import AlertId, Event, Json, Severity
from governance.alerts.alert import (
    AlertMove,
    AlertState,
    AlertView,
    Counted,
    Hush,
    HushReason,
    Resolution,
    state_after,
)
from governance.alerts.noted import RANK
from governance.alerts.priority import Degree
from governance.errors import IllegalTransition
from runtime.errors import NotFound

OPENED = "alert.opened"
_CHANGES = 100
"""Times of coming and going that are kept of one alert; flapping needs some."""
Facts = Mapping[str, Json]


def fold_alert(events: Sequence[Event], onto: AlertView | None = None) -> AlertView:
    """Return how the alert stands after its events, the first of which raised it, or after `onto` and these.

    Raises:
        NotFound: there are none.
        IllegalTransition: the stream holds what the table does not allow, or was erased in part.
    """
    view = onto
    for event in events:
        if event.data is None:
            raise IllegalTransition(f"{event.subject} was erased in part; it cannot be read.", stream=event.subject)
        view = after(view, event.type, event.data, AlertId(event.subject), event.organisation)
    if view is None:
        raise NotFound("There is no such alert.")
    return view


def after(view: AlertView | None, type_: str, data: Facts, alert_id: AlertId, organisation: str) -> AlertView:
    """Return how the alert stands after one event; `view` is None before the first."""
    at = moment(data["at"])
    if view is None and type_ == OPENED:
        return _opened(data, at, alert_id, organisation)
    happened = _HAPPENED.get(type_)
    if view is None or happened is None:
        raise IllegalTransition(f"{type_} is nothing that happens to {alert_id} here.", type=type_, stream=alert_id)
    return happened(replace(view, version=view.version + 1), data, at)


def _opened(data: Facts, at: datetime, alert_id: AlertId, organisation: str) -> AlertView:
    labels = {str(name): str(value) for name, value in data["labels"].items()}  # type: ignore[union-attr]
    view = AlertView(
        alert_id=alert_id, organisation=organisation, source=str(data["source"]), kind=str(data["kind"]),
        labels=labels, key=str(data["key"]), state=AlertState.OPEN, severity=Severity(str(data["severity"])),
        impact=Degree(str(data["impact"])), urgency=Degree(str(data["urgency"])), opened_at=at, since=at, last_at=at,
        route=str(data["route"]), version=1, signals=0, changes=(at,), news_at=at,
    )  # fmt: skip
    return _counted(view, data, at)


def _grew(view: AlertView, data: Facts, at: datetime) -> AlertView:
    severity = Severity(str(data.get("severity", view.severity.value)))
    worse = RANK[severity] > RANK[view.severity]
    view = replace(view, state=state_after(view.state, AlertMove.WORSEN if worse else AlertMove.GROW))
    view = _counted(view, data, at)
    return _waiting(view, at) if worse else view


def _acknowledged(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(
        view, state=state_after(view.state, AlertMove.ACKNOWLEDGE), acknowledged_by=str(data["by"]),
        acknowledged_at=at, reason=str(data.get("reason") or ""), news_at=None,
    )  # fmt: skip


def _resolved(view: AlertView, data: Facts, at: datetime) -> AlertView:
    """What nobody was told of, nobody is told is over."""
    return replace(
        view, state=state_after(view.state, AlertMove.RESOLVE), resolved_at=at,
        resolution=Resolution(str(data["how"])), news_at=None if view.told_at is None else at,
        reason=str(data.get("reason") or view.reason), changes=_changed(view, at),
    )  # fmt: skip


def _reopened(view: AlertView, data: Facts, at: datetime) -> AlertView:
    view = replace(view, state=state_after(view.state, AlertMove.REOPEN), changes=_changed(view, at))
    return _waiting(_counted(replace(view, resolved_at=None, resolution=None), data, at), at)


def _closed(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, state=state_after(view.state, AlertMove.CLOSE), news_at=None)


def _hushed(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, hushes=tuple(map(_hush, data["hushes"])))  # type: ignore[arg-type]


def _heard(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, hushes=(), heard_since=at)


def _flapped(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, flapping=True, flapping_untold=True, news_at=view.news_at or at)


def _steadied(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, flapping=False, flapping_untold=False)


def _told(view: AlertView, data: Facts, at: datetime) -> AlertView:
    names = [*view.told_to, *map(str, data["to"])]  # type: ignore[arg-type]
    level = max(view.level, int(data["level"]))  # type: ignore[arg-type]
    told_to = tuple(dict.fromkeys(names))
    return replace(view, told_at=at, news_at=None, flapping_untold=False, level=level, told_to=told_to)


def _attended(view: AlertView, data: Facts, at: datetime) -> AlertView:
    return replace(view, attended_at=at)


_HAPPENED: Mapping[str, Callable[[AlertView, Facts, datetime], AlertView]] = {
    "alert.grew": _grew,
    "alert.acknowledged": _acknowledged,
    "alert.resolved": _resolved,
    "alert.reopened": _reopened,
    "alert.closed": _closed,
    "alert.hushed": _hushed,
    "alert.heard": _heard,
    "alert.flapped": _flapped,
    "alert.steadied": _steadied,
    "alert.told": _told,
    "alert.attended": _attended,
}
"""Everything that happens to an alert once it was raised."""

LIVE_TYPES = (OPENED, *(type_ for type_ in _HAPPENED if type_ != "alert.closed"))
"""Types of the last event of an alert that is not closed."""


def _counted(view: AlertView, data: Facts, at: datetime) -> AlertView:
    """Return the view with the signals of one event counted in."""
    value = data.get("value")
    return replace(
        view, signals=view.signals + int(data.get("signals", 0)), last_at=at,  # type: ignore[arg-type]
        duplicates=view.duplicates + int(data.get("duplicates", 0)),  # type: ignore[arg-type]
        value=view.value if value is None else float(value), about=str(data.get("about") or view.about),  # type: ignore[arg-type]
        severity=Severity(str(data.get("severity", view.severity.value))),
        impact=Degree(str(data.get("impact", view.impact.value))),
        urgency=Degree(str(data.get("urgency", view.urgency.value))), recent=_recent(view, data, at),
    )  # fmt: skip


def _recent(view: AlertView, data: Facts, at: datetime) -> Mapping[str, Counted]:
    """Return the keys of the signals that may still be repeated: those of this event, and those not yet forgotten."""
    keys = data.get("keys")
    if not isinstance(keys, dict):
        return view.recent
    forget = moment(data["forget"])
    kept = {key: counted for key, counted in view.recent.items() if counted.at >= forget}
    return {**kept, **{key: Counted(moment(says), at) for key, says in keys.items()}}


def _waiting(view: AlertView, at: datetime) -> AlertView:
    """Return the view as it waits for somebody anew."""
    return replace(view, since=at, news_at=at, level=-1, acknowledged_by=None, acknowledged_at=None)


def _changed(view: AlertView, at: datetime) -> tuple[datetime, ...]:
    return (*view.changes[-_CHANGES:], at)


def _hush(data: Mapping[str, Json]) -> Hush:
    until = data.get("until")
    return Hush(HushReason(str(data["reason"])), str(data["by"]), None if until is None else moment(until))


def moment(value: Json) -> datetime:
    """Return the moment that was stored."""
    return datetime.fromisoformat(str(value))
