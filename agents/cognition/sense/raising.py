"""From a signal to the goal it raises; whoever runs the sensor submits it."""

from __future__ import annotations

from datetime import datetime

from agents.cognition.sense.definition import SensorDefinition
from contracts import ExecutionRequest, Json, Signal
from runtime.bindings import resolve
from runtime.canonical import clean, sha256

_LONGEST_KEY = 200


def idempotency_key(signal: Signal) -> str:
    """Return the key under which the goal of this signal is one execution, however often the sensor runs."""
    key = f"sensor:{signal.key}"
    return key if len(key) <= _LONGEST_KEY else f"sensor:{signal.sensor}:{sha256(key.encode())}"


def request_for(
    definition: SensorDefinition, signal: Signal, *, known_at: datetime, language: str = "en"
) -> ExecutionRequest | None:
    """Return the request that the signal raises, or None for a sensor that only tells.

    Raises:
        InvalidArguments: a binding of the goal or of its parameters names nothing.
    """
    if definition.raises is None:
        return None
    roots: dict[str, Json] = {
        **signal.dimensions,
        "bucket": signal.bucket,
        "dimensions": dict(signal.dimensions),
        "value": signal.value,
        "n": signal.n,
        "metric": signal.metric,
        "sensor": signal.sensor,
        "at": clean(known_at),
    }
    parameters = resolve(clean(definition.raises.parameters), roots)
    return ExecutionRequest(
        organisation=signal.organisation,
        goal=str(resolve(definition.raises.goal, roots)),
        skill=definition.raises.skill,
        parameters=parameters if isinstance(parameters, dict) else {},
        idempotency_key=idempotency_key(signal),
        requested_by=f"sensor/{signal.sensor}",
        known_at=known_at,
        language=language,
    )
