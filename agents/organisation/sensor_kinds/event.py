"""What the file of an event sensor may say: `on:` and which of those events matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from agents.cognition.sense.event import EVENT_ROOTS, EVENT_VARIABLES, EventDefinition
from agents.organisation.conditions import binding_fault, condition_fault
from agents.organisation.declared import one_or_more
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.sensor_kinds.common import SensorFile, advance_faults, raise_faults
from contracts import Name
from runtime.bindings import texts_of
from runtime.bus.pattern import compile_pattern


class EventFile(SensorFile):
    """A sensor that listens to what happens."""

    on: Annotated[tuple[str, ...], BeforeValidator(one_or_more)] = Field(min_length=1)
    """Types of events, `*` for any part: `execution.finished`, `step.*`."""
    when: str | None = None
    """Condition over an event."""
    key: str = "{{ subject }}"
    """Events with the same key inside the window are one signal."""

    def definition(self, name: Name) -> EventDefinition:
        """Return it as sensors take it."""
        return EventDefinition(
            name=name, on=self.on, title=self.title, when=self.when, key=self.key, severity=self.severity,
            raises=self.raised(),
        )  # fmt: skip


def event_faults(draft: Draft, sensor: Read[EventDefinition]) -> Iterator[Fault]:
    """Yield what is wrong with one event sensor."""
    definition = sensor.value
    for number, pattern in enumerate(definition.on):
        try:
            compile_pattern(pattern)
        except ValueError as error:
            path = ("on", number) if ("on", number) in sensor.source.lines else ("on",)
            yield sensor.fault(path, f"{error}")
    if definition.when is not None:
        yield from condition_fault(sensor, ("when",), definition.when, EVENT_VARIABLES)
    for text in texts_of(definition.key):
        yield from binding_fault(sensor, ("key",), text, set(EVENT_ROOTS))
    yield from raise_faults(draft, sensor, set(EVENT_ROOTS))
    yield from advance_faults(draft, sensor)
