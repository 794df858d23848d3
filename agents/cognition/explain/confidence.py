"""The confidence label of an explanation: earned by a table of checks, never claimed.

All checks passed: high. One or two failed, none of them vital: medium. Otherwise low. What is inconclusive is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import Confidence

MOST_FAILED = 2
"""Checks that medium confidence may fail."""


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table."""

    name: str
    """`history`, `gaps`, `over`, `distance`, `tested`, `covers`."""
    passed: bool
    is_: float | None
    """What the statistics gave."""
    needs: float | None
    """What high confidence needs of it."""
    vital: bool = False
    """Whether without it confidence is low, whatever else holds."""


def label_of(checks: Sequence[Check], *, conclusive: bool) -> Confidence:
    """Return the label that these checks earn."""
    failed = [check for check in checks if not check.passed]
    if not conclusive or any(check.vital for check in failed) or len(failed) > MOST_FAILED:
        return Confidence.LOW
    return Confidence.MEDIUM if failed else Confidence.HIGH
