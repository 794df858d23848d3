"""The way of a search: filter, words and meaning, a closer look, how fresh, and what fits into the room there is.

A score is made of parts, and each hit tells its own. Words and meaning are each brought to 0–1 over the candidates and
mixed, which keeps how far apart two are, as ranks do not (Bruch, Gai, Ingber 2023, https://doi.org/10.1145/3596512).
Fading is a mild factor with a floor: multiplying by what is left of a memory would bury what is old and right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from contracts import MemoryId, MemoryRecord
from memory.recall.index import MemoryIndex, searched
from memory.recall.rerank import distinct, phrase
from memory.recall.vectors import VectorRows
from memory.records.book import MemoryBook
from memory.records.decay import importance_now, left_of
from memory.records.port import MemoryFilter
from runtime.canonical import clean_text
from runtime.context.tokens import count
from runtime.search import Embedder, EmbedderUnavailable
from runtime.settings import MemorySettings

if TYPE_CHECKING:
    from memory.recall.index import Mask
    from runtime.search.port import Vector

KEYWORD_SHARE = 0.4
"""Part of a score that its words make where there is an embedder; measured by `bench/memory.py`."""
_EMBEDDED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory that was found, and why."""

    record: MemoryRecord
    score: float
    parts: Mapping[str, float]
    """What the score is made of: `words`, `meaning`, `phrase` are added, `fresh` and `personal` multiply the sum."""
    terms: Mapping[str, float]
    """Word of the question → its part, largest first."""
    tokens: int
    importance: float
    """By now."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What a search came to."""

    hits: Sequence[Recalled]
    """Best first."""
    no_room: Sequence[MemoryId] = ()
    """Would have been among the best, and did not fit into the tokens."""
    candidates: int = 0
    """How many were looked at closer."""
    by_words: str = ""
    """Why meaning was left aside; empty where it was not."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is made of the memories in this process: numbers of one are numbers of the other, so they go together."""

    index: MemoryIndex = field(default_factory=MemoryIndex)
    vectors: VectorRows = field(default_factory=VectorRows)


@dataclass(slots=True)
class _Candidate:
    number: int
    words: float = 0.0
    near: float | None = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, when, and by whom."""

    query: str
    rare: Mapping[str, float]
    now: datetime
    personal: Callable[[MemoryRecord], float]


class MemoryRecall:
    """Searches the memories of one organisation. It keeps an index in this process, brought up to date with each."""

    def __init__(self, book: MemoryBook, settings: MemorySettings, embedder: Embedder | None = None) -> None:
        self._book = book
        self._settings = settings
        self._embedder = embedder
        self._kept = _Kept()
        self._position = 0
        self._head = 0
        """Of the ledger when all was taken in; while it stands there, nothing changed."""
        self._turn = asyncio.Lock()

    async def search(
        self, query: str, which: MemoryFilter, *, now: datetime, top: int | None = None,
        personal: Callable[[MemoryRecord], float] = lambda record: 1.0,
    ) -> Recall:  # fmt: skip
        """Return the memories that fit a question best, of those that a filter leaves and that hold now.

        What is superseded, disputed or put away is never among them. An empty question finds nothing.

        Args:
            query: what is looked for.
            which: whose, of which domains, and what else is asked of them.
            now: the moment, for validity and fading.
            top: hits at most, within the tokens of the settings.
            personal: a factor for who asks, around 1.
        """
        query = clean_text(query).strip()
        kept = await self._caught_up()
        if not query or not len(kept.index):
            return Recall(())
        top = top or self._settings.shown
        vector, why_not = await self._embedded(kept, query)
        scores, rare, mask = kept.index.by_words(query, which, now)
        candidates = _candidates(kept, scores, vector, mask, max(self._settings.recalled, top))
        records = await self._records(kept, candidates)
        scored = [
            self._scored(kept, _Question(query, rare, now, personal), each, records[each.number])
            for each in candidates
            if each.number in records  # it may have gone between the two looks
        ]
        scored.sort(key=lambda hit: (-hit.score, hit.record.memory_id))
        least = scored[0].score * self._settings.relevance_least if scored else 0.0
        near = distinct(hit for hit in scored if hit.score >= least)
        hits, no_room = self._fitting(near, top)
        return Recall(hits, no_room, len(candidates), why_not)

    async def _caught_up(self) -> _Kept:
        """Return what is kept, up to date; a search goes on with it though another replaces it meanwhile."""
        async with self._turn:
            head = await self._book.head()
            if head == self._head:
                return self._kept
            if self._kept.index.wasteful:
                self._kept, self._position = _Kept(), 0
            complete = False
            while not complete:
                changes = await self._book.changes(after=self._position)
                self._kept.index.take_in(changes)
                self._position, complete = changes.position, changes.complete
            self._head = head
            return self._kept

    async def _embedded(self, kept: _Kept, query: str) -> tuple[Vector | None, str]:
        """Return the vector of a question once all memories have theirs; None, and why, where there are none."""
        if self._embedder is None:
            return None, "no embedder"
        try:
            [wanted] = await self._embedder.embed_queries([query])
            if kept.vectors.size not in (None, len(wanted)):
                kept.index.fresh.update(kept.index.numbers)  # another model: what it made before says nothing
            await self._embed_missing(kept, self._embedder)
        except EmbedderUnavailable as error:
            return None, error.message
        return wanted, ""

    async def _embed_missing(self, kept: _Kept, embedder: Embedder) -> None:
        import numpy as np

        missing = [(number, memory_id) for number in sorted(kept.index.fresh) if (memory_id := kept.index.ids[number])]
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            part = missing[start : start + _EMBEDDED_AT_ONCE]
            records = await self._book.get_all([memory_id for _, memory_id in part])
            there = [(number, searched(records[each])) for number, each in part if each in records]
            if there:
                made = await embedder.embed_passages([text for _, text in there])
                kept.vectors.put([number for number, _ in there], np.asarray(made, dtype=np.float32))
            kept.index.fresh.difference_update(number for number, _ in part)

    async def _records(self, kept: _Kept, candidates: Sequence[_Candidate]) -> Mapping[int, MemoryRecord]:
        named = {each.number: memory_id for each in candidates if (memory_id := kept.index.ids[each.number])}
        found = await self._book.get_all(list(named.values()))
        return {number: found[memory_id] for number, memory_id in named.items() if memory_id in found}

    def _scored(self, kept: _Kept, question: _Question, candidate: _Candidate, record: MemoryRecord) -> Recalled:
        parts = candidate.parts | {"phrase": phrase(question.query, searched(record))}
        score = sum(parts.values())
        factors = {"fresh": self._fresh(record, question.now), "personal": question.personal(record)}
        for factor in factors.values():
            score *= factor
        return Recalled(
            record, score, parts | factors, kept.index.terms(candidate.number, question.rare),
            count(record.text, "").tokens, importance_now(record, question.now, self._settings),
        )  # fmt: skip

    def _fitting(self, scored: Sequence[Recalled], top: int) -> tuple[list[Recalled], list[MemoryId]]:
        """Return the best that fit into the tokens together, and what would be among them with more room."""
        hits: list[Recalled] = []
        no_room: list[MemoryId] = []
        room = self._settings.shown_tokens
        for hit in scored:
            if len(hits) == top:
                break
            if hit.tokens > room:
                no_room.append(hit.record.memory_id)
                continue
            room -= hit.tokens
            hits.append(hit)
        return hits, no_room

    def _fresh(self, record: MemoryRecord, now: datetime) -> float:
        """Return what fading leaves of a score: `floor + (1 - floor) × what is left`."""
        floor = self._settings.decay_floor
        return floor + (1 - floor) * left_of(record, now, self._settings)


def _candidates(kept: _Kept, scores: Vector, vector: Vector | None, mask: Mask, most: int) -> list[_Candidate]:
    """Return the best by words and the best by meaning, so many of each, with both scores between 0 and 1."""
    best = {number: _Candidate(number) for number in top_of(scores, most)}
    if vector is not None:
        for number in kept.vectors.nearest(vector, mask, most):
            best.setdefault(number, _Candidate(number))
    for each in best.values():
        each.words = float(scores[each.number])
        each.near = None if vector is None else kept.vectors.similarity(vector, each.number)
    found = list(best.values())
    _mix(found)
    return found


def top_of(scores: Vector, top: int) -> list[int]:
    """Return the numbers of the greatest scores over 0, greatest first; equals in order of their numbers."""
    import numpy as np

    best = np.flatnonzero(scores)
    if len(best) > top:
        best = best[np.argpartition(-scores[best], top - 1)[:top]]
    return [int(number) for number in best[np.lexsort((best, -scores[best]))]]


def _mix(candidates: Sequence[_Candidate]) -> None:
    """Bring words and meaning of the candidates to 0–1 each, and mix them."""
    most = max((each.words for each in candidates), default=0.0)
    near = [each.near for each in candidates if each.near is not None]
    least, nearest = min(near, default=0.0), max(near, default=0.0)
    for each in candidates:
        words = each.words / most if most else 0.0
        if not near:
            each.parts = {"words": words}
            continue
        apart = nearest - least
        meaning = 0.0 if each.near is None else ((each.near - least) / apart if apart else 1.0)
        each.parts = {"words": KEYWORD_SHARE * words, "meaning": (1 - KEYWORD_SHARE) * meaning}
