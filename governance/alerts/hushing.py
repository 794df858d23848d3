"""Of which alerts nobody is told, and why: a view that is worked out anew each time, its changes are events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from contracts import AlertId
from governance.alerts.alert import AlertView, Hush, HushReason
from governance.alerts.draft import Drafts
from governance.alerts.rules import AlertRules, Inhibition
from governance.alerts.silence import Silence

Explained = Mapping[AlertId, list[tuple[AlertView, str]]]
"""Alert → the alerts that explain it, each with the rule that says so."""


def hush(drafts: Drafts, silences: Sequence[Silence], at: datetime, rules: AlertRules) -> None:
    """Let each alert have the reasons that hold now; one that had others before has an event that says so."""
    live = [view for view in drafts if view.is_live]
    explained = _explained(live, rules.inhibitions)
    for view in live:
        now = tuple(_reasons(view, silences, explained, at, rules))
        if now == view.hushes:
            continue
        if now:
            drafts.of(view.alert_id).emit("alert.hushed", at, hushes=[each.to_json() for each in now])
        else:
            drafts.of(view.alert_id).emit("alert.heard", at)


def _reasons(
    view: AlertView, silences: Sequence[Silence], explained: Explained, at: datetime, rules: AlertRules
) -> Iterable[Hush]:
    labels = matched_labels(view)
    for silence in silences:
        if silence.holds(at) and silence.match.matches(labels):
            yield Hush(HushReason.SILENCED, silence.silence_id, silence.until)
    for window in rules.maintenance:
        until = window.until(labels, at, rules.zone)
        if until is not None:
            yield Hush(HushReason.MAINTENANCE, window.name, until)
    for source, rule in explained.get(view.alert_id, ()):
        yield Hush(HushReason.INHIBITED, f"{rule}: {source.alert_id}")
    if view.flapping:
        yield Hush(HushReason.FLAPPING, f"{rules.flapping.begins} changes in {rules.flapping.window}")


def matched_labels(view: AlertView) -> Mapping[str, str]:
    """Return what silences and windows match: its labels, and how severe it is."""
    return {**view.labels, "severity": view.severity.value}


def _explained(live: Sequence[AlertView], rules: Sequence[Inhibition]) -> dict[AlertId, list[tuple[AlertView, str]]]:
    found: dict[AlertId, list[tuple[AlertView, str]]] = defaultdict(list)
    for rule in rules:
        sources: dict[tuple[str | None, ...], list[AlertView]] = defaultdict(list)
        for view in live:
            if rule.source.matches(matched_labels(view)):
                sources[_agreeing(view, rule)].append(view)
        for view in live:
            labels = matched_labels(view)
            if sources and rule.target.matches(labels) and not rule.source.matches(labels):
                found[view.alert_id] += [(source, rule.name) for source in sources.get(_agreeing(view, rule), ())]
    return _without_circles(live, found)


def _agreeing(view: AlertView, rule: Inhibition) -> tuple[str | None, ...]:
    return tuple(view.labels.get(name) for name in rule.equal)


def _without_circles(
    live: Sequence[AlertView], found: dict[AlertId, list[tuple[AlertView, str]]]
) -> dict[AlertId, list[tuple[AlertView, str]]]:
    """Return who explains whom, but for what goes round: of alerts that explain each other the oldest is heard."""
    age = {view.alert_id: number for number, view in enumerate(sorted(live, key=_oldest))}
    kept: dict[AlertId, list[tuple[AlertView, str]]] = {}
    for alert_id in sorted(found, key=lambda each: age[each]):
        below = _explained_by(alert_id, found)
        fit = [
            (source, rule)
            for source, rule in found[alert_id]
            if source.alert_id not in below or age[source.alert_id] < age[alert_id]
        ]
        if fit:
            kept[alert_id] = fit
    return kept


def _explained_by(alert_id: AlertId, found: Mapping[AlertId, list[tuple[AlertView, str]]]) -> set[AlertId]:
    """Return every alert that this one explains, also through others."""
    explains: dict[AlertId, list[AlertId]] = defaultdict(list)
    for target, sources in found.items():
        for source, _ in sources:
            explains[source.alert_id].append(target)
    seen, waiting = set[AlertId](), [alert_id]
    while waiting:
        for target in explains[waiting.pop()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _oldest(view: AlertView) -> tuple[datetime, str]:
    return view.opened_at, view.alert_id
