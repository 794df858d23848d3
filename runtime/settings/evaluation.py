"""The numbers by which the organisation judges itself: what labels promise, and when something becomes a gap."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import LONGEST_DAYS, LONGEST_S, Group


class EvaluationSettings(Group):
    """How promises on cards are judged, labels of confidence corrected, and gaps proposed."""

    high: float = Field(default=0.9, gt=0, lt=1)
    """How often a promise labelled high should come true."""
    medium: float = Field(default=0.7, gt=0, lt=1)
    """How often one labelled medium should."""
    low: float = Field(default=0.5, gt=0, lt=1)
    """How often one labelled low should."""
    outcomes: int = Field(default=20, ge=1)
    """Outcomes of a label, within one skill, before it is corrected."""
    newest: int = Field(default=100, ge=1)
    """How many of the newest outcomes count."""
    level: float = Field(default=0.9, gt=0, lt=1)
    """How often the interval of the share that came true holds; a label is corrected beyond it only."""
    wait_s: float = Field(default=86_400.0, ge=0, le=LONGEST_S)
    """How long a missing value is waited for beyond the metric's own freshness, before a promise is inconclusive."""
    gap_cases: int = Field(default=3, ge=2)
    """Executions that failed, or were handed to a person, in the same way before a new skill is proposed."""
    gap_days: float = Field(default=30.0, gt=0, le=LONGEST_DAYS)
    """How far these cases may lie back."""
