"""How many tokens a text is for a model, before anything is paid for.

The tables come with the library and nothing is fetched. Models whose tokenizer is there are counted exactly; for all
others the count of `o200k` stands, with the share by which the true number may be larger. That share was measured
between the four tokenizers that are there: the same text takes up to 2 % more than `o200k` says in English, 52 % in
Chinese, 41 % in JSON full of ids, 59 % in tables of numbers. Digits make it more: `o200k` takes three for a token, and
some models take each for one, so that a text of nothing but digits is three times as many. What an endpoint tells after
a call corrects the next estimate, whatever the model is.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from runtime.canonical import clean_text

_FALLBACK = "o200k_base"
_FAMILIES: Mapping[str, str] = {
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss": "o200k_base",
    "chatgpt-4o": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "llama-3": "llama3",
    "llama3": "llama3",
    "meta-llama-3": "llama3",
    "qwen2": "qwen3",
    "qwen3": "qwen3",
}
"""How names of models begin → their tokenizer; the first that fits counts."""
UNKNOWN_ERROR = 0.6
"""Share by which the count of a model without a tokenizer may be too small, unless the text is full of digits; see
above how it was measured."""
_DIGITS_ERROR = 0.1
"""The same for what is no digit, where each digit is counted by itself."""
_LEAST_RATIO, _MOST_RATIO = 0.5, 3.0
"""What an endpoint tells beyond these is a fault of its own, such as a count of something else."""
_REMEMBERED = 8
_LEARNT = 3
"""Calls after which the error is what was seen, and no longer what was measured beforehand."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens a text is."""

    tokens: int
    """Most likely."""
    error: float
    """Share by which the true number may be larger; 0 where the model's own tokenizer counted."""
    counted: int
    """What the tokenizer counted, before it was corrected by what endpoints told."""

    @property
    def most(self) -> int:
        """The tokens that it may be."""
        return math.ceil(round(self.tokens * (1 + self.error), 3))


def tokenizer_of(model: str) -> str | None:
    """Return the tokenizer of a model by its name; None where it is not known."""
    name = model.rsplit("/", 1)[-1].lower()
    return next((each for begins, each in _FAMILIES.items() if name.startswith(begins)), None)


def count(text: str, model: str) -> Count:
    """Return how many tokens a text is for a model.

    What looks like a mark of a protocol (`<|endoftext|>`) is counted as the text it is. The first count of a tokenizer
    loads its tables, which takes half a second.
    """
    known = tokenizer_of(model)
    counted = _tables(known or _FALLBACK).count(text if text.isascii() else clean_text(text))
    return Count(counted, 0.0 if known else _error_of(text, counted), counted)


def _error_of(text: str, counted: int) -> float:
    """Return the share by which a count may be too small where each digit may be a token, and no three of them."""
    digits = sum(map(text.count, "0123456789"))
    return max(UNKNOWN_ERROR, _DIGITS_ERROR + digits * 2 / 3 / counted) if counted else UNKNOWN_ERROR


class Estimator:
    """Counts tokens, and learns from what endpoints tell after each call how far off that is, for each model.

    An endpoint puts words of its own around messages and tools, so that even an exact tokenizer is some percent off.
    """

    def __init__(self) -> None:
        self._seen: dict[str, deque[float]] = {}

    def count(self, text: str, model: str) -> Count:
        """Return how many tokens a text is, corrected by what was told for this model."""
        return self.corrected(count(text, model), model)

    def corrected(self, counted: Count, model: str) -> Count:
        """Return a count, corrected by what was told for this model."""
        seen = self._seen.get(model)
        if not seen:
            return counted
        ratio = sum(seen) / len(seen)
        error = counted.error
        if len(seen) >= _LEARNT:
            error = max(0.0, *(each / ratio - 1 for each in seen))
        return Count(round(counted.counted * ratio), error, counted.counted)

    def correct(self, model: str, *, told: int, estimated: Count) -> None:
        """Take in what an endpoint told of a request that was estimated; what cannot be is passed over."""
        if estimated.counted > 0 and told > 0:
            ratio = min(_MOST_RATIO, max(_LEAST_RATIO, told / estimated.counted))
            self._seen.setdefault(model, deque(maxlen=_REMEMBERED)).append(ratio)


@cache
def _tables(name: str) -> Any:
    import quicktok

    return quicktok.get_encoding(name)
