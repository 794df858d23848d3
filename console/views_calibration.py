"""What a face shows of how well the organisation knows what it says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contracts import CardId, Confidence, Expectation, Json, Name


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label of a skill, and how often what was promised under it came true."""

    skill: Name | None
    label: Confidence
    shown: Confidence
    """What cards show in its place; the label itself where it is not corrected."""
    promised: float
    n: int
    kept: int
    inconclusive: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PromiseRow:
    """One promise that was judged."""

    card: CardId
    option: str
    how: str
    skill: Name | None
    label: Confidence | None
    expectation: Expectation
    kept: str
    """`kept`, `broken` or `inconclusive`."""
    why: str | None
    value: float | None
    n: int
    change: float | None
    at: datetime


@dataclass(frozen=True, slots=True)
class GapRow:
    """A gap that was put before people as the proposal of a new skill."""

    kind: str
    about: str
    cases: tuple[dict[str, Json], ...]
    draft: str
    card: CardId
    state: str
    """How the card stands."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reliability table with all that it rests on."""

    organisation: Name
    labels: tuple[LabelRow, ...]
    brier: float | None
    promises: tuple[PromiseRow, ...]
    gaps: tuple[GapRow, ...]


@dataclass(frozen=True, slots=True)
class EvaluationDone:
    """What one round of judging found."""

    at: datetime
    judged: tuple[PromiseRow, ...]
    changed: tuple[tuple[Confidence, Confidence], ...]
    """Labels that are shown otherwise from now on: label, what is shown."""
    waiting: int
    not_read: tuple[tuple[CardId, str], ...]
    proposed: tuple[CardId, ...]
    """Cards that propose a new skill."""
