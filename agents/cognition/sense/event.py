"""Sensors that listen: `on:` names types of events of the ledger, `when` says which of them matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agents.cognition.sense.definition import Raise
from contracts import Event, Json, Name, Severity, Text, ValueType
from runtime.bus.pattern import compile_pattern
from runtime.expressions import compile_condition

EVENT_VARIABLES: Mapping[str, ValueType] = {
    "event": ValueType.STRING,
    "subject": ValueType.STRING,
    "source": ValueType.STRING,
    "at": ValueType.DATE_TIME,
    "execution": ValueType.STRING,
    "data": ValueType.OBJECT,
}
"""What `when` and the bindings of a goal may name. `event` is the type, `subject` the stream, `execution` is empty
outside of any."""
EVENT_ROOTS = (*EVENT_VARIABLES, "sensor")

UNHEARD = ("sensor/", "heartbeat/", "request/", "pruning/", "alert/")
"""Streams of what watches: a sensor that heard itself or another one would be one more way to go round in circles."""


@dataclass(frozen=True)
class EventDefinition:
    """One file of `sensors/` with `on:`."""

    name: Name
    on: tuple[str, ...]
    """Patterns of types of events; `*` stands for any characters."""
    title: Text = ""
    when: str | None = None
    """Condition over EVENT_VARIABLES; absent takes every event of these types."""
    key: str = "{{ subject }}"
    """Events for which these words are the same, inside the window, are one signal."""
    severity: Severity = Severity.MEDIUM
    raises: Raise | None = None

    @cached_property
    def _fits(self) -> tuple[object, ...]:
        return tuple(compile_pattern(pattern) for pattern in self.on)

    def hears(self, event: Event) -> bool:
        """Whether the event is of a type that it listens to, and of a stream that may be heard."""
        return not event.subject.startswith(UNHEARD) and any(fits(event.type) for fits in self._fits)  # type: ignore[operator]

    def matters(self, event: Event) -> bool:
        """Whether the condition holds for an event that it hears.

        Raises:
            ExpressionFailed: it could not be worked out.
        """
        return self.when is None or compile_condition(self.when, EVENT_VARIABLES).holds(facts_of(event))


def facts_of(event: Event) -> dict[str, Json]:
    """Return what conditions and bindings see of an event."""
    return {
        "event": event.type,
        "subject": event.subject,
        "source": event.source,
        "at": event.time.isoformat().replace("+00:00", "Z"),
        "execution": event.execution_id or "",
        "data": event.data or {},
    }
