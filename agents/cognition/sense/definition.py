"""What a sensor watches and when it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.cognition.sense.baseline import Baseline
from contracts import Grain, Json, Name, Severity, Text, ValueType

SENSOR_VARIABLES: Mapping[str, ValueType] = {
    "value": ValueType.NUMBER,
    "n": ValueType.INTEGER,
    "baseline": ValueType.NUMBER,
    "history": ValueType.INTEGER,
    "bucket": ValueType.STRING,
    "dimensions": ValueType.OBJECT,
    "complete": ValueType.BOOLEAN,
}
"""What `when`, `clear_when` and `pass_over` may name.

`baseline` is the median of the earlier buckets, `history` how many there are, `complete` whether the bucket is whole.
"""
BASELINE_VARIABLES: Mapping[str, ValueType] = {
    "expected": ValueType.NUMBER,
    "low": ValueType.NUMBER,
    "high": ValueType.NUMBER,
    "deviation": ValueType.NUMBER,
}
"""What `when` and `clear_when` may name besides, where the sensor has a baseline: what is usual for the bucket, the two
ends of that, and by how many standard deviations the value differs."""

_LOOK_BACK: Mapping[Grain, int] = {Grain.HOUR: 96, Grain.DAY: 14, Grain.WEEK: 8, Grain.MONTH: 6}
_HOURS_PASSED_OVER = 2
"""A sensor by the hour may pass over half of the hours and still has to find its history."""


@dataclass(frozen=True, slots=True)
class Raise:
    """The goal that a signal raises.

    Bindings name bucket, value, n, metric, sensor, at, dimensions, and each dimension by its own name.
    """

    goal: str
    skill: Name | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """`with` in the file."""
    advances: Name | None = None
    """The goal or metric that the work brings forward; None is work that looks after the organisation itself."""


@dataclass(frozen=True, slots=True)
class SensorDefinition:
    """One file of `sensors/`."""

    name: Name
    metric: Name
    grain: Grain
    when: str
    """Condition over a bucket (SENSOR_VARIABLES)."""
    title: Text = ""
    by: tuple[Name, ...] = ()
    """Dimensions: each slice is watched for itself. Empty watches the whole."""
    clear_when: str | None = None
    """Condition that ends an episode; absent, an episode has no state and ends by `merge_gap_s`."""
    pass_over: str | None = None
    """Condition for buckets that neither break a row nor count in it."""
    in_a_row: int = 1
    """The condition must have held in this many buckets one after the other."""
    merge_gap_s: float | None = None
    """Buckets whose gap is at most this long belong to one episode and are one signal; absent merges nothing."""
    at_least_history: int = 0
    """Earlier buckets with a value without which there is no judgement."""
    severity: Severity = Severity.MEDIUM
    raises: Raise | None = None
    baseline_over: int = 28
    """Earlier buckets of which `baseline` is the median."""
    usual: Baseline | None = None
    """`baseline` in the file: how it knows what is expected."""
    look_back: int | None = None
    """Buckets read before the ones judged; absent follows from the rest."""

    def __post_init__(self) -> None:
        if self.in_a_row < 1:
            raise ValueError(f"The sensor {self.name} has in_a_row {self.in_a_row}; it takes at least 1.")

    @property
    def history_needed(self) -> int:
        """Earlier buckets it needs: those declared, and one at least for a condition that names the baseline."""
        return max(self.at_least_history, 1 if "baseline" in f"{self.when} {self.clear_when}" else 0)

    @property
    def variables(self) -> Mapping[str, ValueType]:
        """What `when` and `clear_when` may name."""
        return {**SENSOR_VARIABLES, **BASELINE_VARIABLES} if self.usual is not None else SENSOR_VARIABLES

    @property
    def buckets_before(self) -> int:
        """How many buckets are read before the ones judged."""
        if self.look_back is not None:
            return self.look_back
        history = max(self.history_needed, self.baseline_over if self.history_needed else 0)
        if self.usual is not None:
            history = max(history, self.usual.buckets(self.grain))
        passed_over = _HOURS_PASSED_OVER if self.grain is Grain.HOUR and self.pass_over else 1
        return max(_LOOK_BACK[self.grain], (history + self.in_a_row) * passed_over)
