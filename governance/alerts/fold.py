"""The fold of an alert's stream over its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

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
Changes = dict[str, Any]
"""Field of an alert → what it becomes."""


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
    return replace(view, version=view.version + 1, **happened(view, data, at))


def _opened(data: Facts, at: datetime, alert_id: AlertId, organisation: str) -> AlertView:
    labels = {str(name): str(value) for name, value in data["labels"].items()}  # type: ignore[union-attr]
    view = AlertView(
        alert_id=alert_id, organisation=organisation, source=str(data["source"]), kind=str(data["kind"]),
        labels=labels, key=str(data["key"]), state=AlertState.OPEN, severity=Severity(str(data["severity"])),
        impact=Degree(str(data["impact"])), urgency=Degree(str(data["urgency"])), opened_at=at, since=at, last_at=at,
        route=str(data["route"]), version=1, signals=0, changes=(at,), news_at=at,
    )  # fmt: skip
    return replace(view, **_counted(view, data, at))


def _grew(view: AlertView, data: Facts, at: datetime) -> Changes:
    worse = "severity" in data and RANK[Severity(str(data["severity"]))] > RANK[view.severity]
    state = state_after(view.state, AlertMove.WORSEN if worse else AlertMove.GROW)
    return {"state": state, **_counted(view, data, at), **(_waiting(at) if worse else {})}


def _acknowledged(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {
        "state": state_after(view.state, AlertMove.ACKNOWLEDGE), "acknowledged_by": str(data["by"]),
        "acknowledged_at": at, "reason": str(data.get("reason") or ""), "news_at": None,
    }  # fmt: skip


def _resolved(view: AlertView, data: Facts, at: datetime) -> Changes:
    """What nobody was told of, nobody is told is over."""
    return {
        "state": state_after(view.state, AlertMove.RESOLVE), "resolved_at": at,
        "resolution": Resolution(str(data["how"])), "news_at": None if view.told_at is None else at,
        "reason": str(data.get("reason") or view.reason), "changes": _changed(view, at),
    }  # fmt: skip


def _reopened(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {
        "state": state_after(view.state, AlertMove.REOPEN), "changes": _changed(view, at), "resolved_at": None,
        "resolution": None, **_counted(view, data, at), **_waiting(at),
    }  # fmt: skip


def _closed(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"state": state_after(view.state, AlertMove.CLOSE), "news_at": None}


def _hushed(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"hushes": tuple(map(_hush, data["hushes"]))}  # type: ignore[arg-type]


def _heard(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"hushes": (), "heard_since": at}


def _flapped(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"flapping": True, "flapping_untold": True, "news_at": view.news_at or at}


def _steadied(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"flapping": False, "flapping_untold": False}


def _told(view: AlertView, data: Facts, at: datetime) -> Changes:
    names = [*view.told_to, *map(str, data["to"])]  # type: ignore[arg-type]
    level = max(view.level, int(data["level"]))  # type: ignore[arg-type]
    told_to = tuple(dict.fromkeys(names))
    return {"told_at": at, "news_at": None, "flapping_untold": False, "level": level, "told_to": told_to}


def _attended(view: AlertView, data: Facts, at: datetime) -> Changes:
    return {"attended_at": at}


def _counted(view: AlertView, data: Facts, at: datetime) -> Changes:
    """Return what changes by the signals of one event."""
    changes: Changes = {"last_at": at, "about": str(data.get("about") or view.about)}
    for name, kind in (("severity", Severity), ("impact", Degree), ("urgency", Degree)):
        if name in data:
            changes[name] = kind(str(data[name]))
    for name in ("signals", "duplicates"):
        if name in data:
            changes[name] = getattr(view, name) + data[name]
    if "says" in data:
        says = moment(data["says"])
        changes["says"] = says if view.says is None else max(view.says, says)
    if data.get("value") is not None:
        changes["value"] = data["value"]
    keys = data.get("keys")
    if isinstance(keys, dict):
        changes["recent"] = _recent(view, keys, moment(data["forget"]), at)
    return changes


def _recent(view: AlertView, keys: Facts, forget: datetime, at: datetime) -> Mapping[str, Counted]:
    """Return the keys of the signals that may still be repeated: those of this event, and those not yet forgotten."""
    kept = {key: counted for key, counted in view.recent.items() if counted.at >= forget}
    kept.update({key: Counted(moment(says), at) for key, says in keys.items()})
    return kept


def _waiting(at: datetime) -> Changes:
    """Return what changes when it waits for somebody anew."""
    return {"since": at, "news_at": at, "level": -1, "acknowledged_by": None, "acknowledged_at": None}


def _changed(view: AlertView, at: datetime) -> tuple[datetime, ...]:
    return (*view.changes[-_CHANGES:], at)


def _hush(data: Facts) -> Hush:
    until = data.get("until")
    return Hush(HushReason(str(data["reason"])), str(data["by"]), None if until is None else moment(until))


def moment(value: Json) -> datetime:
    """Return the moment that was stored."""
    return datetime.fromisoformat(str(value))


_HAPPENED: Mapping[str, Callable[[AlertView, Facts, datetime], Changes]] = {
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
"""Everything that happens to an alert once it was raised, and what of it changes then."""

LIVE_TYPES = (OPENED, *(type_ for type_ in _HAPPENED if type_ != "alert.closed"))
"""Types of the last event of an alert that is not closed."""
