"""The judgement of a sensor over the values of its metric: pure code, the same for a replay and for today."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from agents.cognition.sense.definition import SENSOR_VARIABLES, SensorDefinition
from contracts import Json
from memory.metrics import MetricValue, ValueState
from runtime.expressions import Expression, ExpressionFailed, compile_condition


class Standing(StrEnum):
    """What a bucket says."""

    FIRES = "fires"
    """The condition holds, often enough in a row."""
    BUILDING = "building"
    """It holds, not yet often enough."""
    QUIET = "quiet"
    PASSED_OVER = "passed_over"
    MISSING = "missing"
    """There is no value; a gap is no drop to zero."""
    NOT_ENOUGH_HISTORY = "not_enough_history"
    NOT_YET_ARRIVED = "not_yet_arrived"


@dataclass(frozen=True, slots=True)
class Judged:
    """A bucket of one slice with its judgement."""

    value: MetricValue
    standing: Standing
    in_a_row: int = 0
    """Buckets in a row in which the condition held, this one included."""
    baseline: float | None = None
    history: int = 0


def judge(definition: SensorDefinition, values: Sequence[MetricValue]) -> list[Judged]:
    """Return the judgement of every bucket, in the order of `values`, which run forward in time within each slice.

    A bucket that is passed over neither breaks a row nor counts in it, nor in the history; a missing one breaks it.

    Raises:
        ExpressionFailed: a condition could not be worked out.
        ExpressionFault: a condition is no expression.
    """
    slices: dict[str, _Slice] = defaultdict(lambda: _Slice(definition))
    return [slices[slice_text(value)].judge(value) for value in values]


def slice_text(value: MetricValue) -> str:
    """Return the slice as text: `carrier=9E,origin=JFK`, or `all`."""
    return ",".join(f"{name}={item}" for name, item in sorted(value.dimensions.items())) or "all"


class _Slice:
    """What is remembered from bucket to bucket."""

    def __init__(self, definition: SensorDefinition) -> None:
        self._definition = definition
        self._when = compile_condition(definition.when, SENSOR_VARIABLES)
        self._pass_over = compile_condition(definition.pass_over, SENSOR_VARIABLES) if definition.pass_over else None
        self._earlier: deque[float] = deque(maxlen=max(definition.baseline_over, definition.history_needed, 1))
        self._row = 0

    def judge(self, value: MetricValue) -> Judged:
        if value.state is ValueState.NOT_YET_ARRIVED:
            return Judged(value, Standing.NOT_YET_ARRIVED, self._row)
        history = len(self._earlier)
        baseline = median(list(self._earlier)[-self._definition.baseline_over :]) if history else None
        facts: dict[str, Json] = {
            "value": value.value,
            "n": value.n,
            "baseline": baseline,
            "history": history,
            "bucket": value.bucket,
            "dimensions": dict(value.dimensions),
        }
        return Judged(value, self._standing(value, facts, history), self._row, baseline, history)

    def _standing(self, value: MetricValue, facts: dict[str, Json], history: int) -> Standing:
        if self._pass_over is not None and _passes_over(self._pass_over, facts):
            return Standing.PASSED_OVER
        if value.value is None:
            self._row = 0
            return Standing.MISSING
        enough = history >= self._definition.history_needed
        self._row = self._row + 1 if enough and self._when.holds(facts) else 0
        self._earlier.append(value.value)
        if not enough:
            return Standing.NOT_ENOUGH_HISTORY
        if self._row == 0:
            return Standing.QUIET
        return Standing.FIRES if self._row >= self._definition.in_a_row else Standing.BUILDING


def _passes_over(condition: Expression, facts: dict[str, Json]) -> bool:
    """Whether the bucket is passed over; a condition on a value that is missing passes nothing over."""
    try:
        return condition.holds(facts)
    except ExpressionFailed:
        if facts["value"] is None:
            return False
        raise
