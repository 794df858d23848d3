"""What conversations tell memory: the two events that it listens to, whoever appends them.

A conversation is a stream (`conversation/NAME`). It begins with `conversation.started`; each thing that is said is one
`conversation.turn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from contracts import Event, Name

STARTED, TURN, ENDED = "conversation.started", "conversation.turn", "conversation.ended"


class Speaker(StrEnum):
    """Who says a turn."""

    PERSON = "person"
    EMPLOYEE = "employee"
    SYSTEM = "system"
    """Whatever the product itself put there: notices, heartbeats, guidance. Never remembered."""


@dataclass(frozen=True, slots=True)
class Started:
    """A conversation that began."""

    conversation: str
    organisation: Name
    person: str
    """Id of the person who talks."""
    employee: Name
    """Whom they talk to."""
    domain: Name | None
    project: Name | None
    at: datetime
    position: int

    @classmethod
    def of(cls, event: Event) -> Started | None:
        """Return what the event says; None where its words were erased."""
        data = event.data
        if data is None:
            return None
        return cls(
            event.subject, event.organisation, str(data["person"]), str(data["employee"]), _text(data, "domain"),
            _text(data, "project"), event.time, event.position,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said."""

    conversation: str
    organisation: Name
    number: int
    """From 1."""
    speaker: Speaker
    text: str
    """The words of the speaker alone: what was put in front of them, such as guidance, is in none of these fields."""
    recalled: tuple[str, ...]
    """Texts of memories that were shown to whoever speaks; what repeats them is nothing new."""
    intent: str | None
    at: datetime
    position: int

    @classmethod
    def of(cls, event: Event) -> Turn | None:
        """Return what the event says; None where its words were erased."""
        data = event.data
        if data is None:
            return None
        recalled = data.get("recalled")
        return cls(
            event.subject, event.organisation, int(data["turn"]), Speaker(str(data["speaker"])),  # type: ignore[arg-type]
            str(data["text"]), tuple(map(str, recalled)) if isinstance(recalled, list) else (), _text(data, "intent"),
            event.time, event.position,
        )  # fmt: skip


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return None if value is None else str(value)
