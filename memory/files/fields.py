"""What of a memory stands below its words in a file: short lines that a person can change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from contracts import MemoryKind, MemoryRecord
from memory.files.lines import field_line, field_value, field_values

Shown: TypeAlias = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One of them."""

    attribute: str
    """Of a record."""
    read: Callable[[str], Shown]
    """What a line says, as `show` would say it; raises ValueError."""
    show: Callable[[Any], Shown | None]
    """What a line says of a record; None for no line."""
    meant: Callable[[Shown], Any]
    """What a record is given."""
    stays: bool = False
    """Whether it stays as it is where its line is taken out; others are emptied."""


def _amount(line: str) -> str:
    value = float(line)
    if not 0 <= value <= 1:
        raise ValueError("it is a number from 0 to 1")
    return _shown_amount(value)


def _shown_amount(value: float) -> str:
    return f"{round(value, 2):g}"


def _kind(line: str) -> str:
    try:
        return MemoryKind(line.strip()).value
    except ValueError:
        raise ValueError(f"it is one of {', '.join(MemoryKind)}") from None


def _shown_kind(kind: MemoryKind) -> str | None:
    return None if kind is MemoryKind.SEMANTIC else kind.value


def _text(attribute: str) -> Field:
    return Field(attribute, field_value, lambda value: value or None, str)


FIELDS: Mapping[str, Field] = {
    "domain": _text("domain"),
    "project": _text("project"),
    "about": _text("subject"),
    "relation": _text("relation"),
    "value": _text("value"),
    "names": Field("entities", field_values, lambda names: tuple(names) or None, tuple),
    "intent": _text("intent"),
    "kind": Field("kind", _kind, _shown_kind, lambda shown: MemoryKind(str(shown)), stays=True),
    "importance": Field("importance", _amount, _shown_amount, lambda shown: float(str(shown)), stays=True),
    "confidence": Field("confidence", _amount, _shown_amount, lambda shown: float(str(shown)), stays=True),
}
"""The word of a line → what it says."""
AMOUNTS = ("importance", "confidence")
"""Those that change without a new version, by reading and by hearing it again."""


def shown_fields(record: MemoryRecord) -> dict[str, Shown]:
    """Return what the lines below a record say."""
    found = {word: field.show(getattr(record, field.attribute)) for word, field in FIELDS.items()}
    return {word: shown for word, shown in found.items() if shown is not None}


def field_lines(fields: Mapping[str, Shown]) -> list[str]:
    """Return the lines."""
    return [f"- {word}: {field_line(fields[word])}" for word in FIELDS if word in fields]


def changed_fields(base: Mapping[str, Shown], edited: Mapping[str, Shown]) -> dict[str, Any]:
    """Return what a person changed: attribute of a record → what it is to be."""
    changed: dict[str, Any] = {}
    for word, field in FIELDS.items():
        before, after = base.get(word), edited.get(word)
        if before == after or (after is None and field.stays):
            continue
        changed[field.attribute] = field.meant(after) if after is not None else () if word == "names" else None
    return changed
