"""Calibration of confidence labels: how often each came true, and what it is worth after that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.cognition.evaluate.promise import Judged, Kept
from contracts import Confidence, Name
from runtime.settings.evaluation import EvaluationSettings

STRONGEST_FIRST = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


@dataclass(frozen=True, slots=True)
class Reliability:
    """One row of the reliability table: a label of a skill, and how often it came true."""

    skill: Name | None
    label: Confidence
    promised: float
    """How often it should."""
    n: int
    """Promises that could be judged, the newest ones up to the setting."""
    kept: int
    inconclusive: int
    """Promises that could not; they count neither way."""
    share: float | None
    low: float | None
    """Wilson's interval of the share."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A label that is worth less than it says."""

    skill: Name | None
    label: Confidence
    """The label that the statistics earn."""
    to: Confidence
    """What is shown in its place."""
    kept: int
    n: int
    promised: float
    high: float
    """Upper end of the interval of the share that came true; below what the label promises."""


def promised_by(settings: EvaluationSettings) -> Mapping[Confidence, float]:
    """Return how often each label should come true."""
    return {Confidence.HIGH: settings.high, Confidence.MEDIUM: settings.medium, Confidence.LOW: settings.low}


def reliability(judged: Sequence[Judged], settings: EvaluationSettings) -> list[Reliability]:
    """Return a row for each skill and label that promised something, by skill, the strongest label first."""
    rows: dict[tuple[str, Confidence], list[Judged]] = defaultdict(list)
    for one in judged:
        if one.label is not None:
            rows[one.skill or "", one.label].append(one)
    ordered = sorted(rows, key=lambda key: (key[0], STRONGEST_FIRST.index(key[1])))
    return [_row(skill or None, label, rows[skill, label], settings) for skill, label in ordered]


def brier(judged: Sequence[Judged], settings: EvaluationSettings) -> float | None:
    """Return the Brier score: the mean square of promised chance minus what happened; None where nothing was judged.

    Source: Brier (1950). 0 is perfect, 0.25 is what always saying one half gives.
    """
    promised = promised_by(settings)
    told = [(promised[one.label], one.kept) for one in judged if one.label and one.kept is not Kept.INCONCLUSIVE]
    if not told:
        return None
    return sum((chance - (kept is Kept.KEPT)) ** 2 for chance, kept in told) / len(told)


def corrections_due(rows: Sequence[Reliability], settings: EvaluationSettings) -> list[Correction]:
    """Return the labels that came true less often than they promise, beyond chance, after enough outcomes.

    A correction only lowers. The label in the place of another is the strongest that promises no more than the upper
    end of the interval, and `low` where even that promises more.
    """
    promised = promised_by(settings)
    found = []
    for row in rows:
        if row.n < settings.outcomes or row.high is None or row.high >= row.promised or row.label is Confidence.LOW:
            continue
        weaker = STRONGEST_FIRST[STRONGEST_FIRST.index(row.label) + 1 :]
        to = next((label for label in weaker if promised[label] <= row.high), Confidence.LOW)
        found.append(Correction(row.skill, row.label, to, row.kept, row.n, row.promised, row.high))
    return found


def _row(skill: Name | None, label: Confidence, judged: Sequence[Judged], settings: EvaluationSettings) -> Reliability:
    from statsmodels.stats.proportion import proportion_confint

    told = [one for one in judged if one.kept is not Kept.INCONCLUSIVE][-settings.newest :]
    kept, n, low, high = sum(one.kept is Kept.KEPT for one in told), len(told), None, None
    if n:
        low, high = map(float, proportion_confint(kept, n, alpha=1 - settings.level, method="wilson"))
    unsaid = sum(one.kept is Kept.INCONCLUSIVE for one in judged)
    return Reliability(skill, label, promised_by(settings)[label], n, kept, unsaid, kept / n if n else None, low, high)
