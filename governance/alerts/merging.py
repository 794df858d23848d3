"""From raw signals to alerts: what is the same is one, what is of the same kind grows one, what is over ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from contracts import AlertId
from governance.alerts.alert import AlertState, Resolution
from governance.alerts.draft import Draft, Drafts, Place, place_of, short
from governance.alerts.noted import BLIND, CLEARED, Noted
from governance.alerts.rules import AlertRules


class Why(StrEnum):
    """Why a raw signal tells nobody anything."""

    DUPLICATE = "duplicate"
    """The same was said inside the window."""
    NOTHING_TO_CLEAR = "nothing_to_clear"
    """It says that something is over which nobody knew of, or which began anew since."""
    SILENCED = "silenced"
    MAINTENANCE = "maintenance"
    INHIBITED = "inhibited"
    FLAPPING = "flapping"


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A raw signal of which nobody is told, and why. It is counted in its alert all the same."""

    noted: Noted
    why: Why
    alert_id: AlertId | None = None
    """The alert that it belongs to."""
    by: str = ""
    """Whose doing: the silence, window or rule."""


@dataclass(slots=True)
class Merging:
    """What one batch did."""

    opened: list[AlertId] = field(default_factory=list)
    """New, or come back."""
    grown: list[AlertId] = field(default_factory=list)
    resolved: list[AlertId] = field(default_factory=list)
    suppressed: list[Suppressed] = field(default_factory=list)
    new: list[tuple[Noted, AlertId]] = field(default_factory=list)
    """Signals that opened an alert or made one grow."""


def merge(drafts: Drafts, batch: Sequence[Noted], at: datetime, rules: AlertRules) -> Merging:
    """Work a batch into the alerts, in its order; what it costs depends on the batch alone."""
    return _Merger(drafts, at, rules).work(batch)


class _Merger:
    """One batch on its way into the alerts."""

    def __init__(self, drafts: Drafts, at: datetime, rules: AlertRules) -> None:
        self._drafts = drafts
        self._at = at
        self._rules = rules
        self._done = Merging()
        self._touched: dict[AlertId, Draft] = {}

    def work(self, batch: Sequence[Noted]) -> Merging:
        for noted in batch:
            place = place_of(noted)
            if noted.kind == CLEARED:
                self._clear(place, noted)
            else:
                self._take(place, noted)
        for draft in self._touched.values():
            draft.flush(self._at, self._rules)
        return self._each_once()

    def _each_once(self) -> Merging:
        done = self._done
        done.opened, done.resolved = list(dict.fromkeys(done.opened)), list(dict.fromkeys(done.resolved))
        opened = set(done.opened)
        done.grown = [alert_id for alert_id in dict.fromkeys(done.grown) if alert_id not in opened]
        return done

    def _clear(self, place: Place, noted: Noted) -> None:
        """End what it is about; an end that comes late, after the same began anew, ends nothing."""
        there = [draft for draft in self._drafts.at(place) if not draft.speaks_after(noted.at)]
        if self._end(there):
            self._end(self._drafts.blind(noted.source))
        else:
            self._done.suppressed.append(Suppressed(noted, Why.NOTHING_TO_CLEAR))

    def _take(self, place: Place, noted: Noted) -> None:
        key, draft = short(noted.key), self._drafts.about(place, noted.kind)
        if draft is None:
            draft = self._drafts.raise_(place, noted, key, self._at, self._rules)
            self._done.opened.append(draft.alert_id)
        elif self._repeats(draft, noted, key):
            draft.repeat()
            self._done.suppressed.append(Suppressed(noted, Why.DUPLICATE, draft.alert_id))
            self._touch(draft)
            return
        else:
            draft.count(noted, key, self._at)
            self._grow(draft)
        self._touch(draft)
        self._done.new.append((noted, draft.alert_id))
        if noted.kind not in BLIND:
            self._end(self._drafts.blind(noted.source))

    def _grow(self, draft: Draft) -> None:
        if draft.view.state is AlertState.RESOLVED:
            draft.emit("alert.reopened", self._at, **draft.counted(self._at, self._rules))
            self._done.opened.append(draft.alert_id)
        else:
            self._done.grown.append(draft.alert_id)

    def _touch(self, draft: Draft) -> None:
        self._touched[draft.alert_id] = draft

    def _repeats(self, draft: Draft, noted: Noted, key: str) -> bool:
        """Whether it only repeats a signal: the same once more, or one with its key while the alert goes on."""
        known = draft.knows(key)
        if known is None:
            return False
        soon = abs(noted.at - known.says) <= self._rules.deduplicate
        return known.says == noted.at or (soon and draft.view.is_live)

    def _end(self, drafts: Sequence[Draft]) -> bool:
        """Resolve those that go on; return whether there were any."""
        going_on = [draft for draft in drafts if draft.view.is_live]
        for draft in going_on:
            draft.flush(self._at, self._rules)
            draft.emit("alert.resolved", self._at, how=Resolution.CLEARED.value)
            self._done.resolved.append(draft.alert_id)
        return bool(going_on)
