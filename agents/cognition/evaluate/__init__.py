"""Whether what was promised came true, what labels are worth after that, and what the organisation cannot do yet."""

from agents.cognition.evaluate.calibration import Correction, Reliability, brier, corrections_due, reliability
from agents.cognition.evaluate.evaluator import Evaluated, Evaluator
from agents.cognition.evaluate.gaps import Gap, GapCase, find_gaps
from agents.cognition.evaluate.labels import LedgerLabels
from agents.cognition.evaluate.promise import Judged, Kept, judge
from agents.cognition.evaluate.proposing import Proposals, Proposed

__all__ = [
    "Correction",
    "Evaluated",
    "Evaluator",
    "Gap",
    "GapCase",
    "Judged",
    "Kept",
    "LedgerLabels",
    "Proposals",
    "Proposed",
    "Reliability",
    "brier",
    "corrections_due",
    "find_gaps",
    "judge",
    "reliability",
]
