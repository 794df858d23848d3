"""How pressing an alert is: impact × urgency, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from contracts import Severity


class Degree(StrEnum):
    """How much or how soon, most first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


PRIORITY: Mapping[tuple[Degree, Degree], int] = {
    (Degree.HIGH, Degree.HIGH): 1,
    (Degree.HIGH, Degree.MEDIUM): 2,
    (Degree.HIGH, Degree.LOW): 3,
    (Degree.MEDIUM, Degree.HIGH): 2,
    (Degree.MEDIUM, Degree.MEDIUM): 3,
    (Degree.MEDIUM, Degree.LOW): 4,
    (Degree.LOW, Degree.HIGH): 3,
    (Degree.LOW, Degree.MEDIUM): 4,
    (Degree.LOW, Degree.LOW): 5,
}
"""(Impact, urgency) → priority, 1 is the most pressing; the matrix of ITIL's incident management."""

_OF_SEVERITY: Mapping[Severity, tuple[Degree, Degree]] = {
    Severity.CRITICAL: (Degree.HIGH, Degree.HIGH),
    Severity.HIGH: (Degree.HIGH, Degree.MEDIUM),
    Severity.MEDIUM: (Degree.MEDIUM, Degree.MEDIUM),
    Severity.LOW: (Degree.LOW, Degree.LOW),
}
"""Severity → impact and urgency, where no rule says them."""


def impact_of(severity: Severity, said: Degree | None) -> Degree:
    """Return the impact that a rule says, else the one of the severity."""
    return said or _OF_SEVERITY[severity][0]


def urgency_of(severity: Severity, said: Degree | None) -> Degree:
    """Return the urgency that a rule says, else the one of the severity."""
    return said or _OF_SEVERITY[severity][1]
