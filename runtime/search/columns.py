"""Many texts found by their words: the scores of `Bm25` over one field, in arrays, for a hundred thousand and more.

Texts are numbered by whoever holds them, each greater than the one before: a text that changes gets another.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from sys import intern
from typing import TYPE_CHECKING

from runtime.search.bm25 import CHARACTER, K1, B
from runtime.search.tokens import is_character, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

_WASTE = 0.3
"""Share of entries of a word whose texts are gone, from which on they are taken out."""


class _Postings:
    """The texts with one word, and how often it stands in each; those that went are taken out now and then."""

    __slots__ = ("gone", "numbers", "times")

    def __init__(self) -> None:
        self.numbers = array("i")
        self.times = array("f")
        self.gone = 0

    def __len__(self) -> int:
        return len(self.numbers) - self.gone


class WordColumns:
    """Words of numbered texts, which may come, change and go at any time."""

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        """Text → its different words."""
        self._lengths = array("f")
        """By number; 0 for one that is not there."""
        self._total = 0.0

    def __len__(self) -> int:
        return len(self._words)

    def put(self, number: int, text: str) -> None:
        """Take a text in, under a number that is greater than any before."""
        counted = Counter(tokens(text))
        while len(self._lengths) <= number:
            self._lengths.append(0.0)
        self._lengths[number] = float(counted.total())
        self._total += counted.total()
        for word, times in counted.items():
            there = self._postings.get(word)
            if there is None:
                there = self._postings[word] = _Postings()
            there.numbers.append(number)
            there.times.append(float(times))
        self._words[number] = tuple(map(intern, counted))  # a hundred thousand texts have few different ones

    def remove(self, number: int) -> None:
        """Forget a text; nothing where there is none of that number."""
        words = self._words.pop(number, None)
        if words is None:
            return
        self._total -= self._lengths[number]
        self._lengths[number] = 0.0
        for word in words:
            self._take_out(word, number)

    def scores(self, query: str, size: int) -> tuple[Scores, dict[str, float]]:
        """Return the score of each number below `size`, 0 where no word fits, and word → how rare it is."""
        import numpy as np

        found = np.zeros(size, dtype=np.float32)
        rare = {word: self._rarity(word) for word in dict.fromkeys(tokens(query)) if word in self._postings}
        for word, rarity in rare.items():
            numbers, parts = self._parts(word, rarity)
            found[numbers] += parts
        return found, rare

    def terms(self, number: int, rare: dict[str, float]) -> dict[str, float]:
        """Return word → its part of the score of one text, largest first."""
        parts = {}
        words = self._words.get(number, ())
        for word, rarity in rare.items():
            if word in words:
                there = self._postings[word]
                often = there.times[bisect_left(there.numbers, number)]
                parts[word] = self._part(rarity, often, self._lengths[number])
        return dict(sorted(parts.items(), key=lambda part: (-part[1], part[0])))

    def _parts(self, word: str, rarity: float) -> tuple[NDArray[np.int32], Scores]:
        import numpy as np

        there = self._postings[word]
        numbers: NDArray[np.int32] = np.frombuffer(there.numbers, dtype=np.int32)
        often = np.frombuffer(there.times, dtype=np.float32)
        lengths = np.frombuffer(self._lengths, dtype=np.float32)[numbers]
        long = (1 - B) + B * lengths / max(self._total / max(len(self._words), 1), 1e-9)
        parts: Scores = ((rarity * (K1 + 1)) * often / (often + K1 * long)).astype(np.float32)
        return numbers, parts

    def _part(self, rarity: float, often: float, length: float) -> float:
        long = 1 - B + B * length / max(self._total / max(len(self._words), 1), 1e-9)
        return rarity * (K1 + 1) * often / (often + K1 * long)

    def _rarity(self, word: str) -> float:
        documents = len(self._postings[word])
        rarity = math.log(1 + (len(self._words) - documents + 0.5) / (documents + 0.5))
        return rarity * CHARACTER if is_character(word) else rarity

    def _take_out(self, word: str, number: int) -> None:
        there = self._postings[word]
        at = bisect_left(there.numbers, number)
        there.times[at] = 0.0
        there.gone += 1
        if len(there) == 0:
            del self._postings[word]
        elif there.gone > _WASTE * len(there.numbers):
            kept = [(n, t) for n, t in zip(there.numbers, there.times, strict=True) if t]
            there.numbers, there.times = array("i", [n for n, _ in kept]), array("f", [t for _, t in kept])
            there.gone = 0
