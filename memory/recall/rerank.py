"""What is looked at once few memories are left: how much of the question one answers, in which words, about whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from contracts import MemoryRecord
from runtime.search import plain, tokens

COVERED = 0.25
"""What a memory gains that holds every word of the question, rare words counting more."""
PHRASE = 0.10
"""What one gains that holds all neighbouring words of the question side by side."""
NAMED = 0.15
"""What one gains that is about a name which stands in the question."""


def gained(query: str, record: MemoryRecord, text: str, rare: Mapping[str, float]) -> dict[str, float]:
    """Return what a memory gains over its score by words and meaning, by reason; each between 0 and its constant."""
    asked = list(dict.fromkeys(tokens(query)))
    held = tokens(text)
    return {
        "covered": COVERED * _covered(asked, held, rare),
        "phrase": PHRASE * _side_by_side(tokens(query), held),
        "named": NAMED * _named(query, record),
    }


def _covered(asked: Sequence[str], held: Sequence[str], rare: Mapping[str, float]) -> float:
    whole = sum(rare.get(word, 0.0) for word in asked)
    there = set(held)
    return sum(rare.get(word, 0.0) for word in asked if word in there) / whole if whole else 0.0


def _side_by_side(asked: Sequence[str], held: Sequence[str]) -> float:
    wanted = set(pairwise(asked))
    return len(wanted & set(pairwise(held))) / len(wanted) if wanted else 0.0


def _named(query: str, record: MemoryRecord) -> float:
    said = f" {' '.join(plain(query).split())} "
    names = [plain(name) for name in (*record.entities, record.subject or "") if name]
    return float(any(name in said for name in names))
