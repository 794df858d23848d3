"""What is worth remembering: points for what a sentence is, and a threshold; judged by code, each point explained."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from runtime.settings import MemorySettings


class Feature(StrEnum):
    """What speaks for or against remembering a sentence."""

    FACT = "fact"
    """It states a fact or a preference."""
    REMEMBER = "remember"
    """Whoever said it wants it remembered."""
    DECISION = "decision"
    """It says what was decided."""
    REPEATED = "repeated"
    """It was said before."""
    SMALL_TALK = "small_talk"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a sentence is kept, and why."""

    points: Mapping[Feature, int]
    least: int

    @property
    def score(self) -> int:
        """All points together."""
        return sum(self.points.values())

    @property
    def kept(self) -> bool:
        """Whether they suffice."""
        return self.score >= self.least


def judge(features: Collection[Feature], settings: MemorySettings) -> Judgement:
    """Return the points of a sentence with these features; a feature counts once."""
    weights = {
        Feature.FACT: settings.fact_points,
        Feature.REMEMBER: settings.remember_points,
        Feature.DECISION: settings.decision_points,
        Feature.REPEATED: settings.repeated_points,
        Feature.SMALL_TALK: settings.small_talk_points,
    }
    return Judgement({each: weights[each] for each in Feature if each in features}, settings.keep_score)
