"""Statistics first: what an excess is due to, and how sure that is."""

from agents.cognition.reason.attribution import attribute
from agents.cognition.reason.verdict import Attribution, Confidence, Design, History, Thresholds, Verdict

__all__ = ["Attribution", "Confidence", "Design", "History", "Thresholds", "Verdict", "attribute"]
