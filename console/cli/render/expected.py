"""What an option promises, in a line: numbers in the unit of their metric."""

from __future__ import annotations

from contracts import Expectation
from runtime.texts import Say


def in_unit(value: float | None, unit: str, *, signed: bool = False) -> str:
    """Return a value as people read it in its unit; a share as per cent."""
    if value is None:
        return "–"
    sign = "+" if signed else ""
    if unit == "share":
        return f"{100 * value:{sign}.1f} %"
    digits = 0 if float(value).is_integer() else 2
    return f"{value:{sign},.{digits}f} {unit}"


def expectation_line(expected: Expectation, say: Say) -> str:
    """Return what is promised: how much the metric changes from where it was, between which bounds, and when."""
    where = ", ".join(f"{name} {value}" for name, value in expected.where.items())
    return say(
        "option-expects-line",
        metric=f"{expected.metric} {where}".strip(),
        period=expected.period,
        baseline=in_unit(expected.baseline, expected.unit),
        change=in_unit(expected.change, expected.unit, signed=True),
        low=in_unit(expected.low, expected.unit, signed=True),
        high=in_unit(expected.high, expected.unit, signed=True),
    )
