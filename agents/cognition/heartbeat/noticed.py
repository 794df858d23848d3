"""A signal as a round finds it in the ledger, with the goal it raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.cognition.sense import SensorDefinition, request_for
from agents.cognition.sense.event import EventDefinition
from agents.cognition.sense.kinds import AnySensor
from contracts import Event, ExecutionRequest, Json, Name, Signal, SignalKind

RAISED = "signal.raised"


@dataclass(frozen=True, slots=True)
class Noticed:
    """One signal and what the event tells beside it."""

    position: int
    signal: Signal
    at: datetime
    """The organisation's own time when the sensor spoke."""
    caused_by: tuple[str, ...] = ()
    goal: Mapping[str, Any] | None = None
    """Of an event sensor: the goal with everything filled in."""

    @classmethod
    def of(cls, event: Event) -> Noticed | None:
        """Return what an event `signal.raised` tells; None where it was erased."""
        if event.data is None:
            return None
        signal = Signal.read(event.data["signal"])  # type: ignore[arg-type]
        told, goal, causes = event.data.get("at"), event.data.get("goal"), event.data.get("caused_by")
        at = datetime.fromisoformat(str(told)) if told else event.time
        return cls(
            event.position, signal, at, tuple(map(str, causes)) if isinstance(causes, list) else (),
            goal if isinstance(goal, dict) else None,
        )  # fmt: skip

    @property
    def source(self) -> str:
        """Who noticed, as alerts name it."""
        return f"sensor/{self.signal.sensor}"

    @property
    def may_merge(self) -> bool:
        """Whether it stands for no more than others of its alert: each period of a metric has its own goal."""
        return self.signal.kind is SignalKind.EVENT

    def request(self, sensor: AnySensor | None, language: str) -> ExecutionRequest | None:
        """Return the goal that it raises, or None where it only tells.

        Raises:
            InvalidArguments: a binding of the goal names nothing.
        """
        found: ExecutionRequest | None = None
        if isinstance(sensor, SensorDefinition) and self.signal.kind is SignalKind.THRESHOLD:
            found = request_for(sensor, self.signal, known_at=self.at, language=language)
        elif isinstance(sensor, EventDefinition) and sensor.raises is not None and self.goal is not None:
            found = ExecutionRequest(
                organisation=self.signal.organisation,
                goal=str(self.goal["goal"]),
                skill=sensor.raises.skill,
                parameters=self.goal.get("with") or {},
                idempotency_key=f"sensor:{sensor.name}:{self.position}",
                requested_by=self.source,
                known_at=self.at,
                language=language,
            )
        if found is None or sensor is None or sensor.raises is None:
            return None
        return found.model_copy(
            update={"caused_by": (*self.caused_by, self.source), "advances": sensor.raises.advances}
        )

    def to_json(self, *, raises: bool) -> dict[str, Json]:
        """Return it as a round shows it."""
        signal = self.signal
        return {
            "position": self.position,
            "sensor": signal.sensor,
            "kind": signal.kind.value,
            "severity": signal.severity.value,
            "bucket": signal.bucket,
            "value": signal.value,
            "key": signal.key,
            "raises": raises,
        }


def raises_goal(noticed: Noticed, sensors: Mapping[Name, AnySensor]) -> bool:
    """Whether a signal has a goal at all."""
    sensor = sensors.get(noticed.signal.sensor)
    if sensor is None or sensor.raises is None:
        return False
    return noticed.signal.kind in (SignalKind.THRESHOLD, SignalKind.EVENT)
