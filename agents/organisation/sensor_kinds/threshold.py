"""What the file of a threshold sensor may say: `metric:` and a condition over its values."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from agents.cognition.sense.definition import SensorDefinition
from agents.organisation.declared import Duration, one_or_more
from agents.organisation.sensor_kinds.baseline_entry import BaselineEntry
from agents.organisation.sensor_kinds.common import SensorFile
from contracts import Grain, Name

_Several = BeforeValidator(one_or_more)


class ThresholdFile(SensorFile):
    """A sensor that watches a metric."""

    metric: Name
    """What it watches."""
    grain: Grain
    """By which period."""
    by: Annotated[tuple[Name, ...], _Several] = ()
    """Dimensions whose slices are watched for themselves."""
    when: str
    """Condition over a bucket."""
    clear_when: str | None = None
    """Condition that ends an episode."""
    pass_over: str | None = None
    """Buckets that neither break a row nor count in it."""
    in_a_row: int = Field(default=1, ge=1)
    """Buckets one after the other in which it must have held."""
    merge_gap: Duration | None = None
    """Longest gap inside one episode."""
    at_least_history: int = Field(default=0, ge=0)
    """Earlier buckets without which there is no judgement."""
    baseline_over: int = Field(default=28, ge=1)
    """Earlier buckets of which `baseline` is the median."""
    baseline: BaselineEntry | None = None
    """How it knows what is usual."""
    look_back: int | None = Field(default=None, ge=1)
    """Buckets read before the ones judged."""

    def definition(self, name: Name) -> SensorDefinition:
        """Return it as sensors take it."""
        return SensorDefinition(
            name=name,
            metric=self.metric,
            grain=self.grain,
            when=self.when,
            title=self.title,
            by=self.by,
            pass_over=self.pass_over,
            in_a_row=self.in_a_row,
            merge_gap_s=self.merge_gap,
            at_least_history=self.at_least_history,
            severity=self.severity,
            raises=self.raised(self.metric),
            baseline_over=self.baseline_over,
            clear_when=self.clear_when,
            usual=self.baseline.baseline() if self.baseline else None,
            look_back=self.look_back,
        )
