"""The words of a text, as search counts them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

from runtime.search.irregular import base_forms

_UNSPACED = (
    ("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)  # fmt: skip
"""Characters, from and to, of scripts that put no spaces between words; Chinese above all."""
_WORD = re.compile(r"[^\W_]+")
_PARTICLES = re.compile("[的了吗呢吧啊嘛们么这那哪我你您他她它]+")
"""Characters that hold a Chinese sentence together and begin or end no word of business."""
_COMMON = frozenset((
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "for", "from", "had",
    "has", "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let",
    "ll", "m", "many", "may", "me", "might", "more", "most", "must", "my", "need", "needs", "no", "nor", "not", "of",
    "on", "only", "or", "our", "over", "please", "re", "s", "shall", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "us",
    "use", "used", "user", "ve", "very", "want", "was", "we", "were", "what", "when", "where", "which", "who", "why",
    "will", "with", "would", "you", "your",
))  # fmt: skip
"""English words that tell no text from another."""


def tokens(text: str) -> list[str]:
    """Return the words of a text in their order, repeated as they are in it.

    English words are stemmed, and the commonest are left out. A run of Chinese gives each pair of neighbouring
    characters: without a dictionary, and so also for names and terms that no dictionary has. It gives each character
    as well, since 货款 and 催款 share what they are about.
    """
    found: list[str] = []
    for run, unspaced in _runs(plain(text)):
        if unspaced:
            for part in _PARTICLES.split(run):
                found += [part[at : at + 2] for at in range(len(part) - 1)]
                found += part
        elif run not in _COMMON:
            found.append(stem(run))
    return found


def plain(text: str) -> str:
    """Return the text without differences that mean nothing: width, case, composed letters."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def has_unspaced(text: str) -> bool:
    """Whether anything of a text is in a script that puts no spaces between words."""
    return any(map(_is_unspaced, text))


def unspaced_share(text: str) -> float:
    """Return how much of a text is in scripts without spaces, a character there counted as a word; 0 to 1."""
    characters = words = 0
    for run, unspaced in _runs(text):
        characters += len(run) if unspaced else 0
        words += not unspaced
    return characters / (characters + words) if characters + words else 0.0


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of letters and digits that are of one kind, and whether their script puts no spaces."""
    for word in _WORD.findall(text):
        if word.isascii():
            yield word, False
        else:
            yield from (("".join(run), unspaced) for unspaced, run in groupby(word, _is_unspaced))


def _is_unspaced(character: str) -> bool:
    # A pattern of these ranges takes 20 ms to compile, in every process that reads a goal.
    return character > "\u303f" and any(first <= character <= last for first, last in _UNSPACED)


def is_character(token: str) -> bool:
    """Whether a token is a single character of a run, which says less than a pair."""
    return len(token) == 1 and _is_unspaced(token)


@lru_cache(16_384)
def stem(word: str) -> str:
    """Return an English word without its endings: cancel for cancelled and cancellations, pay for paid."""
    return str(_stemmer().stemWord(_base_forms().get(word, word)))


@cache
def _base_forms() -> Mapping[str, str]:
    return base_forms()


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
