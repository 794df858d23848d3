"""One definition of one metric: a number that an organisation knows by one name."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from contracts.base import VERSION_PATTERN, Contract, Name, StepId, Text
from contracts.periods import Grain
from contracts.plan import LONGEST_S, ValueType


class Direction(StrEnum):
    """Which way is good."""

    UP = "up"
    DOWN = "down"
    NEUTRAL = "neutral"


class Formula(StrEnum):
    """How a value comes about."""

    SQL = "sql"
    """An aggregate of the source's own language."""
    PYTHON = "python"
    """A function of the folder, called with the values of each bucket."""
    RATIO = "ratio"
    """One metric divided by another."""
    WINDOW = "window"
    """The last buckets of another metric taken together."""


class PythonFunction(Contract):
    """A Python file of the folder whose function `value` gives the value of one bucket."""

    file: str = Field(min_length=1)
    """Path in the folder."""
    text: str
    """What stands in it."""


class RatioOf(Contract):
    """One metric divided by another of the same bucket and slice."""

    of: Name
    """The metric above."""
    to: Name
    """The metric below; where it is zero there is no value, and that is no zero."""


Combination: TypeAlias = Literal["mean", "sum", "min", "max", "median"]
"""How the buckets of a window are taken together."""


class WindowOf(Contract):
    """The last buckets of another metric, the one in question included."""

    of: Name
    """That metric."""
    last: int = Field(ge=2, le=1_000)
    """How many buckets of the grain that is asked for."""
    combine: Combination = Field(default="mean", alias="as")
    """How they are taken together."""
    at_least: int | None = Field(default=None, ge=1)
    """Buckets that must have a value; absent means all of them."""


class MetricDefinition(Contract):
    """One definition of one metric, the only one in the organisation."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)

    name: Name
    """Its key."""
    title: Text
    """Its name for people."""
    description: Text = ""
    """What it measures, and what it does not."""
    source: Name | None = None
    """The connection it is read from; absent where it follows from other metrics."""
    over: str = ""
    """Table or view the rows come from."""
    time: str = ""
    """SQL expression for a row's time, local time of the organisation."""
    value: str = ""
    """SQL aggregate that gives the value; null means missing, which is not zero."""
    python: PythonFunction | None = None
    """The function that gives the value, in the place of `value`."""
    takes: dict[StepId, str] = {}
    """Argument of that function → SQL expression; it gets the values of all rows of a bucket, in order of time."""
    ratio: RatioOf | None = None
    """Two other metrics it is the ratio of."""
    window: WindowOf | None = None
    """Another metric whose last buckets it takes together."""
    n: str = "count(*)"
    """SQL aggregate that gives how many rows the value rests on."""
    where: str = "true"
    """SQL condition for the rows that count."""
    unit: str
    """`share`, `minutes`, `flights`, …"""
    grains: tuple[Grain, ...] = Field(min_length=1)
    """Periods it can be read for."""
    dimensions: dict[Name, str] = {}
    """Dimension → SQL expression; of a ratio or a window: → the dimension of the metrics it is made of."""
    good: Direction = Direction.NEUTRAL
    """Which way is good."""
    owner: Name
    """The employee that answers for the definition."""
    freshness_s: float | None = Field(default=None, ge=0, le=LONGEST_S)
    """How long after the end of a bucket its data may still be under way, in seconds; absent: it is there at the end. A
    bucket without a value has not yet arrived until then, and is missing afterwards."""
    value_type: ValueType = ValueType.NUMBER
    """Type of a value."""

    @property
    def formula(self) -> Formula:
        """How its value comes about."""
        if self.ratio is not None:
            return Formula.RATIO
        if self.window is not None:
            return Formula.WINDOW
        return Formula.PYTHON if self.python is not None else Formula.SQL

    @property
    def parts(self) -> tuple[Name, ...]:
        """Metrics it is made of."""
        if self.ratio is not None:
            return (self.ratio.of, self.ratio.to)
        return (self.window.of,) if self.window is not None else ()

    @model_validator(mode="after")
    def _one_formula(self) -> MetricDefinition:
        faults = formula_faults({name: getattr(self, name) for name in OF_FORMULAS})
        if faults:
            raise ValueError(" ".join(faults))
        return self


_FORMULAS = ("value", "python", "ratio", "window")
_READ_FROM = ("source", "over", "time")
OF_FORMULAS = (*_FORMULAS, *_READ_FROM, "takes")
"""Fields of a definition that make up its formula."""


def formula_faults(given: Mapping[str, object]) -> list[str]:
    """Return what is wrong with the formula among the fields of a metric, as sentences."""
    told = [name for name in _FORMULAS if given.get(name)]
    if len(told) > 1:
        return [f"A metric has one formula; this one has {_listed(told)}."]
    if told and told[0] in ("ratio", "window"):
        beside = [name for name in (*_READ_FROM, "takes") if given.get(name)]
        return [f"A metric made of other metrics reads through them; take {_listed(beside)} out."] if beside else []
    faults = [f"`{name}` is missing." for name in _READ_FROM if not given.get(name)]
    if not told:
        faults.append("`value` is missing (or `python`, `ratio` or `window` in its place).")
    if told == ["python"] and not given.get("takes"):
        faults.append("`takes` is missing: what the function is called with.")
    if told == ["value"] and given.get("takes"):
        faults.append("`takes` is for a metric with `python`.")
    return faults


def _listed(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
