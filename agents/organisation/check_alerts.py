"""`alerts.yaml`: whoever is told is there, labels are such as alerts have, and levels go upwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from agents.organisation.alerts_file import AlertsFile
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import SignalKind
from governance.alerts.noted import FROM_SIGNAL

_OF_EVERY_ALERT = ("source", "kind", "severity", *FROM_SIGNAL)


def alert_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with the organisation's alerts."""
    if draft.alerts is None:
        return
    read = draft.alerts
    yield from _name_faults(read)
    if draft.org is not None:
        yield from _people_faults(draft, read)
    labels = {*_OF_EVERY_ALERT, *(name for metric in draft.metrics.values() for name in metric.value.dimensions)}
    for path, match in read.value.matches().items():
        for label, patterns in match.items():
            yield from _label_fault(read, (*path, label), label, labels)
            for pattern in patterns:
                yield from _value_fault(draft, read, (*path, label), label, pattern)
    yield from _group_faults(read, labels)


def _name_faults(read: Read[AlertsFile]) -> Iterator[Fault]:
    for part in ("routes", "inhibit", "maintenance"):
        entries = getattr(read.value, part)
        counted = Counter(entry.name for entry in entries)
        for number, entry in enumerate(entries):
            if counted[entry.name] > 1:
                counted[entry.name] = 0  # told once
                yield read.fault((part, number, "name"), f"Two entries of `{part}` are called `{entry.name}`.")


def _people_faults(draft: Draft, read: Read[AlertsFile]) -> Iterator[Fault]:
    assert draft.org is not None
    people = draft.org.value.people
    there = {*(person.id for person in people), *(group for person in people for group in person.groups)}
    for number, route in enumerate(read.value.routes):
        before = -1.0
        for nth, level in enumerate(route.tell):
            place: Path = ("routes", number, "tell", nth)
            for name in level.to:
                if name not in there:
                    what = f"There is no person or group `{name}`, so nobody would be told."
                    yield read.fault((*place, "to"), what, nearest(name, there))
            if level.after <= before:
                what = f"Level {nth + 1} of `{route.name}` comes no later than the one before it."
                yield read.fault((*place, "after"), what, "Give each level a longer `after` than the one before.")
            before = level.after


def _group_faults(read: Read[AlertsFile], labels: Collection[str]) -> Iterator[Fault]:
    for number, route in enumerate(read.value.routes):
        for nth, label in enumerate(route.group):
            yield from _label_fault(read, ("routes", number, "group", nth), label, labels)
    for number, rule in enumerate(read.value.inhibit):
        for nth, label in enumerate(rule.equal):
            yield from _label_fault(read, ("inhibit", number, "equal", nth), label, labels)


def _label_fault(read: Read[AlertsFile], place: Path, label: str, labels: Collection[str]) -> Iterator[Fault]:
    """Yield a label that is nearly one of those there are; another may come from whatever else gives signals."""
    if label not in labels and get_close_matches(label, labels, n=1):
        yield read.fault(place, f"No alert has a label `{label}`.", nearest(label, labels))


def _value_fault(draft: Draft, read: Read[AlertsFile], place: Path, label: str, pattern: str) -> Iterator[Fault]:
    """Yield what can never match: a sensor or metric that is not there, a kind that is nearly one."""
    if label in ("sensor", "metric"):
        there: Collection[str] = draft.sensors if label == "sensor" else draft.metrics
        if f"{label}s/{pattern}.yaml" in draft.files.names():
            return  # it is there, and has faults of its own where it could not be read
        if not any(fnmatchcase(name, pattern) for name in there):
            yield read.fault(place, f"There is no {label} `{pattern}`.", nearest(pattern, there))
    kinds = [kind.value for kind in SignalKind]
    if label == "kind" and pattern not in kinds and get_close_matches(pattern, kinds, n=1):
        yield read.fault(place, f"There is no kind `{pattern}`.", nearest(pattern, kinds))
