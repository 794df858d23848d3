"""From the events of a key to its value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from contracts import Event
from runtime.blackboard.port import Entry, Version
from runtime.blackboard.rules import REPLACE, merged

WRITTEN = "entry.written"
ERASED = "erased"
KEPT_CONFLICTS = 20


def version_of(key: str, event: Event) -> Version:
    """Return the write that an event tells of; an erased one keeps its place."""
    data = event.data or {"value": None, "employee": ERASED, "step": ERASED}
    order = data.get("order")
    return Version(
        key=key,
        version=event.stream_version,
        value=data["value"],
        employee=str(data["employee"]),
        step=str(data["step"]),
        order=None if order is None else str(order),
        at=event.time,
        position=event.position,
        rule=str(data.get("rule", REPLACE)),
        unseen=bool(data.get("unseen", False)),
    )


def entry_after(entry: Entry | None, last: Version | None, event: Event, key: str) -> tuple[Entry, Version]:
    """Return the entry after one more event, and the write it tells of.

    Args:
        entry: the entry before; None for a new key.
        last: the write before this one, when it is known.
        event: the next one of the key's stream.
        key: its name.
    """
    new = version_of(key, event)
    old = entry.value if entry else None
    if event.data is None:  # the value is gone: a merged value cannot be made without it, a replaced one is none
        value = old if last is not None and last.rule != REPLACE else None
    else:
        value = merged(key, new.rule, old, new.value)
    conflicts = _conflicts(entry, last, new, conflicts_of(event))
    return Entry(key, value, new.version, new.employee, new.step, tuple(conflicts)), new


def stands_alone(event: Event) -> bool:
    """Return whether the event tells what stands there and which conflicts there are, whatever came before it."""
    data = event.data
    return data is not None and data.get("rule", REPLACE) == REPLACE and ("conflicts" in data or not data.get("unseen"))


def entry_alone(key: str, event: Event, conflicts: Iterable[Version]) -> tuple[Entry, Version]:
    """Return the entry that an event which stands alone tells of, and the write."""
    new = version_of(key, event)
    return Entry(key, new.value, new.version, new.employee, new.step, tuple(conflicts)), new


def conflicts_of(event: Event) -> list[Any] | None:
    """Return the versions with which a write is in conflict; None where it does not tell."""
    told = (event.data or {}).get("conflicts")
    return told if isinstance(told, list) else None


def in_conflict(entry: Entry, last: Version, writer: tuple[str | None, str, str]) -> list[Version]:
    """Return the values that `writer` replaces without having seen them, and those that nobody has settled yet.

    Args:
        entry: what stands there.
        last: the write that put it there.
        writer: order, employee and step of the write that goes on top.
    """
    if (last.order, last.employee, last.step) == writer:
        return list(entry.conflicts)
    return [*entry.conflicts, last][-KEPT_CONFLICTS:]


def _conflicts(
    entry: Entry | None, last: Version | None, new: Version, told: Sequence[int] | None
) -> Iterable[Version]:
    if entry is None or last is None or new.rule != REPLACE or not new.unseen:
        return ()
    if told is None:
        return in_conflict(entry, last, (new.order, new.employee, new.step))
    return (version for version in (*entry.conflicts, last) if version.version in told)
