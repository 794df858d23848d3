"""Alerts while a batch is worked into them: each change is an event, and the alert is folded on at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from contracts import AlertId, Json, Severity
from governance.alerts.alert import AlertView, Counted
from governance.alerts.fold import OPENED, after
from governance.alerts.noted import BLIND, RANK, Noted
from governance.alerts.priority import impact_of, urgency_of
from governance.alerts.rules import AlertRules
from runtime.canonical import clean
from runtime.ledger.port import NewEvent

Place = tuple[str, tuple[tuple[str, str], ...]]
"""Source and labels: what a signal is about, whatever it says of it."""
Fingerprint = tuple[str, str, tuple[tuple[str, str], ...]]
"""Source, kind and labels: signals that agree in them are of the same kind and one alert."""


def place_of(noted: Noted) -> Place:
    """Return what a raw signal is about."""
    return noted.source, tuple(sorted(noted.labels.items()))


def short(key: str) -> str:
    """Return a key as alerts remember it."""
    return hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).hexdigest()


class Draft:
    """One alert with what happens to it in this batch."""

    def __init__(self, alert_id: AlertId, organisation: str, view: AlertView | None = None) -> None:
        self.alert_id = alert_id
        self.organisation = organisation
        self._view = view
        self.version = 0 if view is None else view.version
        """Events that are in the ledger already."""
        self.events: list[NewEvent] = []
        self._keys: dict[str, Counted] = {}
        self._signals = self._duplicates = 0
        self._worst: Severity | None = None
        self._last: Noted | None = None
        self._says: datetime | None = None

    @property
    def view(self) -> AlertView:
        """The alert with everything that was emitted so far."""
        assert self._view is not None, "a draft is raised before anybody looks at it"
        return self._view

    def emit(self, type_: str, at: datetime, **facts: Json) -> None:
        """Let something happen to it."""
        data: dict[str, Json] = {"at": clean(at), **facts}
        self._view = after(self._view, type_, data, self.alert_id, self.organisation)
        self.events.append(NewEvent(type_, data))

    def knows(self, key: str) -> Counted | None:
        """Return when a signal with this key was counted last, if that is remembered."""
        return self._keys.get(key) or (self._view.recent.get(key) if self._view is not None else None)

    def speaks_after(self, moment: datetime) -> bool:
        """Whether a signal of it is about a later moment: what was over before that does not end it."""
        known = self._view.says if self._view is not None else None
        return any(says is not None and says > moment for says in (self._says, known))

    def repeat(self) -> None:
        """Count a signal that only repeats one."""
        self._duplicates += 1

    def count(self, noted: Noted, key: str, at: datetime) -> None:
        """Count a signal that says something new."""
        self._signals += 1
        self._keys[key] = Counted(noted.at, at)
        self._last = noted
        self._says = noted.at if self._says is None else max(self._says, noted.at)
        if self._worst is None or RANK[noted.severity] > RANK[self._worst]:
            self._worst = noted.severity

    def flush(self, at: datetime, rules: AlertRules) -> None:
        """Emit what was counted, where anything was; to one that is over, repetitions do nothing."""
        if not self._signals and not self._duplicates:
            return
        counted = self.counted(at, rules)
        if self.view.is_live:
            self.emit("alert.grew", at, **counted)

    def counted(self, at: datetime, rules: AlertRules) -> dict[str, Json]:
        """Return what was counted as facts of an event, and count from nothing again."""
        facts: dict[str, Json] = {}
        if self._duplicates:
            facts["duplicates"] = self._duplicates
        if self._signals:
            facts["signals"] = self._signals
            facts["keys"] = {key: clean(counted.says) for key, counted in self._keys.items()}
            facts["forget"] = clean(at - rules.deduplicate)
        if self._last is not None:
            facts |= {"value": clean(self._last.value), "about": clean(self._last.about)}
        if self._says is not None:
            facts["says"] = clean(self._says)
        if self._worst is not None and (self._view is None or RANK[self._worst] > RANK[self._view.severity]):
            labels = self.view.labels if self._view is not None else labels_of(self._last)
            route = rules.route_for({**labels, "severity": self._worst.value})
            facts |= {
                "severity": self._worst.value, "impact": impact_of(self._worst, route.impact).value,
                "urgency": urgency_of(self._worst, route.urgency).value,
            }  # fmt: skip
        self._keys, self._signals, self._duplicates = {}, 0, 0
        self._worst = self._last = self._says = None
        return facts


def labels_of(noted: Noted | None) -> dict[str, str]:
    """Return the labels that rules match: those of the signal, with its source and kind."""
    return {} if noted is None else {**noted.labels, "source": noted.source, "kind": noted.kind}


def _identity(noted: Noted, labels: Mapping[str, str]) -> dict[str, Json]:
    return {"source": noted.source, "kind": noted.kind, "key": noted.key, "labels": dict(labels)}


class Drafts:
    """Every alert that is not closed, and which of them a signal is about."""

    def __init__(self, organisation: str, views: Iterable[AlertView]) -> None:
        self.organisation = organisation
        self._views: dict[AlertId, AlertView] = {}
        self._drafts: dict[AlertId, Draft] = {}
        self._found: dict[Fingerprint, AlertId] = {}
        self._placed: dict[Place, list[AlertId]] = {}
        self._blind: dict[str, list[AlertId]] = {}
        for view in views:
            self._views[view.alert_id] = view
            labels = {name: value for name, value in view.labels.items() if name not in ("source", "kind")}
            self._index(view.alert_id, (view.source, tuple(sorted(labels.items()))), view.kind)

    def _index(self, alert_id: AlertId, place: Place, kind: str) -> None:
        self._found[place[0], kind, place[1]] = alert_id
        self._placed.setdefault(place, []).append(alert_id)
        if kind in BLIND:
            self._blind.setdefault(place[0], []).append(alert_id)

    def __iter__(self) -> Iterator[AlertView]:
        """Yield every alert as it stands now."""
        for alert_id, view in self._views.items():
            draft = self._drafts.get(alert_id)
            yield view if draft is None else draft.view

    def of(self, alert_id: AlertId) -> Draft:
        """Return the draft of an alert that there is."""
        draft = self._drafts.get(alert_id)
        if draft is None:
            draft = self._drafts[alert_id] = Draft(alert_id, self.organisation, self._views[alert_id])
        return draft

    def about(self, place: Place, kind: str) -> Draft | None:
        """Return the draft of the alert that signals of this kind belong to, if there is one."""
        alert_id = self._found.get((place[0], kind, place[1]))
        return None if alert_id is None else self.of(alert_id)

    def at(self, place: Place) -> list[Draft]:
        """Return the drafts of all alerts about this, of whatever kind."""
        return [self.of(alert_id) for alert_id in self._placed.get(place, ())]

    def blind(self, source: str) -> list[Draft]:
        """Return the drafts of alerts that say that a source cannot see."""
        return [self.of(alert_id) for alert_id in self._blind.get(source, ())]

    def raise_(self, place: Place, noted: Noted, key: str, at: datetime, rules: AlertRules) -> Draft:
        """Return the draft of a new alert."""
        draft = Draft(AlertId.new(), self.organisation)
        draft.count(noted, key, at)
        labels = labels_of(noted)
        told = {name: clean(value) for name, value in _identity(noted, labels).items()}
        draft.emit(
            OPENED,
            at,
            route=rules.route_for({**labels, "severity": noted.severity.value}).name,
            **told,
            **draft.counted(at, rules),
        )
        self._drafts[draft.alert_id] = draft
        self._views[draft.alert_id] = draft.view
        self._index(draft.alert_id, place, noted.kind)
        return draft

    def changed(self) -> list[Draft]:
        """Return those to which anything happened."""
        return [draft for draft in self._drafts.values() if draft.events]
