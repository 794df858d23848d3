"""Who is told what, and when: groups with their waits, and the levels of escalation.

A group is told when its first alert has waited (`wait`), then of what is new at most every `interval`, and again every
`repeat` while it is open. An alert that nobody acknowledges goes to the next level when its time has come; when several
have, for example after a night without a server, all of them are told at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts import AlertId, Name
from governance.alerts.alert import AlertState, AlertView
from governance.alerts.draft import Drafts
from governance.alerts.hushing import matched_labels
from governance.alerts.rules import AlertRules, Route
from runtime.canonical import sha256

_KEPT_OF_HASH = 32


class Occasion(StrEnum):
    """Why somebody is told."""

    NEWS = "news"
    """Alerts that are new, came back, grew worse or are over."""
    REPEAT = "repeat"
    """They are still open."""
    ESCALATION = "escalation"
    """Nobody acknowledged them in time."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A message about alerts of one group. It is an event of each of them before anybody delivers it."""

    occasion: Occasion
    to: tuple[Name, ...]
    """People and groups of the organisation."""
    level: int
    """The level of escalation, 0 for the first."""
    group: tuple[str, ...]
    """The route and the labels in which they agree."""
    alerts: tuple[AlertView, ...]
    at: datetime

    @property
    def key(self) -> str:
        """What tells it apart: it is delivered once, however many alerts it is about."""
        ids = sorted(view.alert_id for view in self.alerts)
        told = sha256([self.occasion.value, self.level, self.at.isoformat(), *ids])
        return f"alerts/{told[:_KEPT_OF_HASH]}"


def tell(drafts: Drafts, at: datetime, rules: AlertRules) -> list[Telling]:
    """Return everything that has to be told by now, and let each alert remember it."""
    groups: dict[tuple[str, ...], list[AlertView]] = defaultdict(list)
    for view in drafts:
        labels = matched_labels(view)
        groups[rules.route_for(labels).group_of(labels)].append(view)
    told: list[Telling] = []
    for group, views in groups.items():
        route = rules.route_for(matched_labels(views[0]))
        for telling in _due(group, route, views, at) if route.levels else ():
            told.append(_remembered(drafts, telling))
    return told


def _due(group: tuple[str, ...], route: Route, views: Sequence[AlertView], at: datetime) -> Iterable[Telling]:
    audible = [view for view in views if view.is_audible and view.state is not AlertState.CLOSED]
    escalated = list(_escalations(group, route, audible, at))
    yield from escalated
    said = {view.alert_id for telling in escalated for view in telling.alerts}
    first = route.levels[0]
    news = [view for view in audible if view.news_at is not None and view.alert_id not in said]
    told = [view.told_at for view in views if view.told_at is not None]
    if news:
        since = min(view.news_at for view in news if view.news_at is not None)
        due = since + max(route.wait, first.after) if not told else max(since, max(told) + route.interval)
        if at >= due:
            yield Telling(Occasion.NEWS, first.to, 0, group, tuple(news), at)
            return
    again = [view for view in audible if view.state is AlertState.OPEN and view.told_at and view.alert_id not in said]
    if again and at >= max(told) + route.repeat:
        yield Telling(Occasion.REPEAT, first.to, 0, group, tuple(again), at)


def _escalations(group: tuple[str, ...], route: Route, audible: Sequence[AlertView], at: datetime) -> Iterable[Telling]:
    due: dict[tuple[int, int], list[AlertView]] = defaultdict(list)
    for view in audible:
        reached = level_due(route, view, at)
        if view.state is AlertState.OPEN and not view.flapping and reached > max(view.level, 0):
            due[max(view.level, -1) + 1, reached].append(view)
    for (lowest, highest), views in sorted(due.items()):
        to = [name for level in route.levels[lowest : highest + 1] for name in level.to]
        yield Telling(Occasion.ESCALATION, tuple(dict.fromkeys(to)), highest, group, tuple(views), at)


def level_due(route: Route, view: AlertView, at: datetime) -> int:
    """Return the highest level whose time has come for an alert that waits; −1 for none."""
    waited = at - view.waits_since
    return max((number for number, level in enumerate(route.levels) if waited >= level.after), default=-1)


def _remembered(drafts: Drafts, telling: Telling) -> Telling:
    ids: list[AlertId] = [view.alert_id for view in telling.alerts]
    for alert_id in ids:
        drafts.of(alert_id).emit(
            "alert.told", telling.at, occasion=telling.occasion.value, to=list(telling.to), level=telling.level,
            group=list(telling.group), key=telling.key, beside=len(ids) - 1,
        )  # fmt: skip
    return Telling(
        telling.occasion, telling.to, telling.level, telling.group,
        tuple(drafts.of(alert_id).view for alert_id in ids), telling.at,
    )  # fmt: skip
