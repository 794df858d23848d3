"""The judgement of a sensor over the values of its metric: pure code, the same for a replay and for today."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import median

from agents.cognition.sense.baseline import Expected, expected_at
from agents.cognition.sense.definition import SENSOR_VARIABLES, SensorDefinition
from agents.cognition.sense.hysteresis import Mark, Move, Seen, SlicePhase
from contracts import Json
from memory.metrics import MetricValue, ValueState
from runtime.canonical import to_text
from runtime.expressions import Expression, ExpressionFailed, compile_condition
from runtime.settings.groups import SensorSettings


class Standing(StrEnum):
    """What a bucket says."""

    FIRES = "fires"
    """The condition holds, often enough in a row."""
    BUILDING = "building"
    """It holds, not yet often enough."""
    OPEN = "open"
    """It does not hold, and the episode that it began is not over."""
    CLEARS = "clears"
    """The episode is over."""
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
    usual: Expected | None = None
    """What was expected, where the sensor knows what is usual and had enough history."""


def judge(
    definition: SensorDefinition,
    values: Sequence[MetricValue],
    *,
    marks: Mapping[str, Mark] | None = None,
    since: datetime | None = None,
    settings: SensorSettings | None = None,
) -> list[Judged]:
    """Return the judgement of every bucket, in the order of `values`, which run forward in time within each slice.

    A bucket that is passed over neither breaks a row nor counts in it, nor in the history; a missing one breaks it.

    Args:
        marks: how slices stood before, by slice, for a sensor with `clear_when`.
        since: buckets that start before are history only, as far as what is usual goes: working that out takes time.
        settings: how much history is enough.

    Raises:
        ExpressionFailed: a condition could not be worked out.
        ExpressionFault: a condition is no expression.
    """
    slices: dict[str, _Slice] = {}
    known, enough = marks or {}, settings or SensorSettings()
    judged = []
    for value in values:
        name = slice_text(value)
        if name not in slices:
            slices[name] = _Slice(definition, SlicePhase(known.get(name)), since, enough)
        judged.append(slices[name].judge(value))
    return judged


def slice_text(value: MetricValue) -> str:
    """Return the slice as text: `carrier=9E,origin=JFK`, or `all`."""
    return ",".join(f"{name}={_item(item)}" for name, item in sorted(value.dimensions.items())) or "all"


def _item(item: Json) -> str:
    """Return the value of a dimension so that no other reads like it: quoted where it holds what stands between."""
    if not isinstance(item, str):
        return to_text(item)
    return to_text(item) if item == "null" or any(mark in item for mark in ',="') else item


class _Slice:
    """What is remembered from bucket to bucket."""

    def __init__(
        self, definition: SensorDefinition, phase: SlicePhase, since: datetime | None, settings: SensorSettings
    ) -> None:
        self._definition = definition
        self._when = compile_condition(definition.when, definition.variables)
        self._clear = compile_condition(definition.clear_when, definition.variables) if definition.clear_when else None
        self._pass_over = compile_condition(definition.pass_over, SENSOR_VARIABLES) if definition.pass_over else None
        spans = definition.usual.buckets(definition.grain) if definition.usual is not None else 0
        kept = max(definition.baseline_over, definition.history_needed, spans, 1)
        self._earlier: deque[tuple[datetime, float]] = deque(maxlen=kept)
        self._row = 0
        self._phase = phase
        self._since = since
        self._settings = settings

    def judge(self, value: MetricValue) -> Judged:
        if value.state is ValueState.NOT_YET_ARRIVED:
            return Judged(value, Standing.NOT_YET_ARRIVED, self._row)
        history = len(self._earlier)
        recent = [earlier for _, earlier in self._earlier][-self._definition.baseline_over :]
        baseline = median(recent) if recent else None
        facts: dict[str, Json] = {
            "value": value.value,
            "n": value.n,
            "baseline": baseline,
            "history": history,
            "bucket": value.bucket,
            "dimensions": dict(value.dimensions),
            "complete": value.complete,
        }
        if self._pass_over is not None and _passes_over(self._pass_over, facts):
            return Judged(value, Standing.PASSED_OVER, self._row, baseline, history)
        usual = self._usual(value)
        standing = self._standing(value, facts, history, usual)
        return Judged(value, standing, self._row, baseline, history, usual)

    def _usual(self, value: MetricValue) -> Expected | None:
        usual = self._definition.usual
        if usual is None or value.value is None or (self._since is not None and value.start < self._since):
            return None
        return expected_at(usual, self._definition.grain, value.start, self._earlier, self._settings)

    def _standing(
        self, value: MetricValue, facts: dict[str, Json], history: int, usual: Expected | None
    ) -> Standing:  # fmt: skip
        if value.value is None:
            self._row = 0
            self._phase.see(value.start, Seen.NOTHING)
            return Standing.MISSING
        enough = history >= self._definition.history_needed and (self._definition.usual is None or usual is not None)
        if usual is not None:
            deviation = usual.deviation(value.value)
            facts |= {"expected": usual.expected, "low": usual.low, "high": usual.high, "deviation": deviation}
        holds = enough and self._when.holds(facts)
        self._row = self._row + 1 if holds else 0
        self._earlier.append((value.start, value.value))
        if not enough:
            self._phase.see(value.start, Seen.NOTHING)
            return Standing.NOT_ENOUGH_HISTORY
        if self._clear is not None:
            return self._stands(value, self._clear, facts)
        if self._row == 0:
            return Standing.QUIET
        return Standing.FIRES if self._row >= self._definition.in_a_row else Standing.BUILDING

    def _stands(self, value: MetricValue, clear: Expression, facts: dict[str, Json]) -> Standing:
        if self._row:
            seen = Seen.HOLDS if self._row >= self._definition.in_a_row else Seen.BUILDS
        else:
            seen = Seen.ENDS if value.complete and clear.holds(facts) else Seen.NEITHER
        move = self._phase.see(value.start, seen)
        if move is Move.NONE:
            return Standing.BUILDING if seen is Seen.BUILDS else Standing.QUIET
        return STANDINGS[move]


STANDINGS: Mapping[Move, Standing] = {
    Move.OPENS: Standing.FIRES,
    Move.GOES_ON: Standing.FIRES,
    Move.STAYS: Standing.OPEN,
    Move.CLEARS: Standing.CLEARS,
}
"""What a bucket says that moved a sensor with `clear_when`."""


def _passes_over(condition: Expression, facts: dict[str, Json]) -> bool:
    """Whether the bucket is passed over; a condition on a value that is missing passes nothing over."""
    try:
        return condition.holds(facts)
    except ExpressionFailed:
        if facts["value"] is None:
            return False
        raise
