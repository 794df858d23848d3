"""Why a metric is what it is: statistics first, then words that add no number to them."""

from agents.cognition.explain.confidence import Check, label_of
from agents.cognition.explain.explanation import Compare, Explanation, Question, Verdict, explain
from agents.cognition.explain.measured import Measured, State
from agents.cognition.explain.series import Point, Slices
from agents.cognition.explain.thresholds import Thresholds

__all__ = [
    "Check",
    "Compare",
    "Explanation",
    "Measured",
    "Point",
    "Question",
    "Slices",
    "State",
    "Thresholds",
    "Verdict",
    "explain",
    "label_of",
]
