"""Scores by words: BM25F (Robertson, Zaragoza 2009), one weighted frequency over all fields of a document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping

from runtime.search.tokens import is_character, tokens

K1 = 1.2
"""How soon a word that is repeated counts no more."""
B = 0.75
"""How much a long field is held to say its words by chance."""


CHARACTER = 0.3
"""How much a single Chinese character counts beside a pair of them or a word."""


class Bm25:
    """Words of documents, which may come, change and go at any time."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)
        self._postings: dict[str, dict[str, dict[str, int]]] = {}
        """Word → document → field → how often."""
        self._words: dict[str, set[str]] = {}
        """Document → words that it has."""
        self._lengths: dict[str, dict[str, int]] = {}
        """Document → field → words."""
        self._total: Counter[str] = Counter()
        """Field → words in all documents."""

    def add(self, name: str, fields: Mapping[str, str]) -> None:
        """Take a document in, in the place of one of the same name."""
        self.remove(name)
        lengths = self._lengths[name] = {}
        words = self._words[name] = set()
        for field in self._weights:
            counted = Counter(tokens(fields.get(field, "")))
            lengths[field] = counted.total()
            words.update(counted)
            for word, times in counted.items():
                self._postings.setdefault(word, {}).setdefault(name, {})[field] = times
        self._total.update(lengths)

    def remove(self, name: str) -> None:
        """Forget a document; nothing when it is not there."""
        lengths = self._lengths.pop(name, None)
        if lengths is None:
            return
        self._total.subtract(lengths)
        for word in self._words.pop(name):
            del self._postings[word][name]
            if not self._postings[word]:
                del self._postings[word]

    def scores(self, query: str, among: Container[str]) -> dict[str, dict[str, float]]:
        """Return the documents with a word of the query: document → word → its part of the score."""
        found: dict[str, dict[str, float]] = {}
        for word in dict.fromkeys(tokens(query)):
            there = self._postings.get(word, {})
            for name in (name for name in there if name in among):
                often = self._weighted(name, there[name])
                part = self._rarity(word) * often * (K1 + 1) / (often + K1)
                found.setdefault(name, {})[word] = part
        return found

    def most(self, query: str) -> float:
        """Return what a document could score that said nothing but the query's words; 0 for a query without any."""
        return sum(self._rarity(word) * (K1 + 1) for word in dict.fromkeys(tokens(query)))

    def _rarity(self, word: str) -> float:
        documents = len(self._postings.get(word, ()))
        rarity = math.log(1 + (len(self._lengths) - documents + 0.5) / (documents + 0.5))
        return rarity * CHARACTER if is_character(word) else rarity

    def _weighted(self, name: str, fields: Mapping[str, int]) -> float:
        often = 0.0
        for field, times in fields.items():
            usual = self._total[field] / len(self._lengths)
            often += self._weights[field] * times / (1 - B + B * self._lengths[name][field] / usual)
        return often
