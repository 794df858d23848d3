"""Attention: what is seen to first, and where to look more often."""

from agents.cognition.attend.attention import Attention
from agents.cognition.attend.ranking import Attended, LeftOut, LeftOutWhy, Ranked, rank
from agents.cognition.attend.sampling import Because, Rate, Sampling, next_rate

__all__ = [
    "Attended",
    "Attention",
    "Because",
    "LeftOut",
    "LeftOutWhy",
    "Ranked",
    "Rate",
    "Sampling",
    "next_rate",
    "rank",
]
