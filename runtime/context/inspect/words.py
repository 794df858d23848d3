"""The words of a query, and which of them a text has."""

from __future__ import annotations

import re

from runtime.search.tokens import has_unspaced, is_character, plain, stem, tokens

_WORD = re.compile(r"[^\W_]+")
_ASCII = re.compile(r"[a-z0-9]+")


class Words:
    """Terms of a query as `runtime.search.tokens` has them. Each different word of the data is stemmed once."""

    def __init__(self, query: str) -> None:
        terms = dict.fromkeys(tokens(query))
        whole = [term for term in terms if not is_character(term)] or list(terms)
        self._unspaced = tuple(term for term in whole if has_unspaced(term))
        self._spaced = frozenset(whole) - set(self._unspaced)
        self._known: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._unspaced) + len(self._spaced)

    def terms_in(self, text: str) -> set[str]:
        """Return the terms that a text has."""
        if not len(self):
            return set()
        said = plain(text)
        found = {term for term in self._unspaced if term in said}
        if self._spaced:
            words = set(_ASCII.findall(said) if said.isascii() else _spaced_words(said))
            found |= self._spaced.intersection(map(self._stemmed, words))
        return found

    def start_in(self, text: str) -> int:
        """Return about where the first term stands, for showing the text around it; 0 where that is not plain."""
        lowered = text.lower()
        places = [lowered.find(term[:4]) for term in (*self._unspaced, *sorted(self._spaced))]
        return min((place for place in places if place >= 0), default=0)

    def _stemmed(self, word: str) -> str:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = stem(word)
        return known


def _spaced_words(said: str) -> list[str]:
    """Return the words of scripts that put spaces; Latin ones also where they stand between Chinese characters."""
    found: list[str] = []
    for word in _WORD.findall(said):
        if word.isascii() or not has_unspaced(word):
            found.append(word)
        else:
            found += _ASCII.findall(word)
    return found
