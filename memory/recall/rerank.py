"""What is looked at once few memories are left: whether one says what is asked in its very words, or only again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from contracts import MemoryRecord
from runtime.search import tokens

PHRASE = 0.10
"""What a memory gains that holds all neighbouring words of the question side by side."""


class HasRecord(Protocol):
    """A hit."""

    @property
    def record(self) -> MemoryRecord: ...  # noqa: D102


Hit = TypeVar("Hit", bound=HasRecord)


def phrase(query: str, text: str) -> float:
    """Return what a memory gains for holding neighbouring words of the question side by side, 0 to `PHRASE`."""
    return PHRASE * _side_by_side(tokens(query), tokens(text))


def _side_by_side(asked: Sequence[str], held: Sequence[str]) -> float:
    wanted = set(pairwise(asked))
    return len(wanted & set(pairwise(held))) / len(wanted) if wanted else 0.0


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits without those that say in the same words what a better one says: they would take its room."""
    kept: dict[frozenset[str], Hit] = {}
    for hit in hits:
        kept.setdefault(frozenset(tokens(hit.record.text)), hit)
    return list(kept.values())
