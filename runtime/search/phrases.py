"""Words and phrases that somebody declared, looked for in a text: found or not, never nearly."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runtime.search.tokens import has_unspaced, plain, stem

_WORD = re.compile(r"[^\W_]+")


def phrases_in(phrases: Iterable[str], text: str) -> list[str]:
    """Return the phrases that stand in the text, each once whatever its ending.

    Those in Chinese are looked for anywhere in the text, others as whole words whatever their ending.
    """
    whole = plain(text)
    stems = stems_of(whole)
    found: dict[str, str] = {}
    for phrase in map(plain, phrases):
        if phrase and _stands_in(phrase, whole, stems):
            found.setdefault(" ".join(stems_of(phrase)), phrase)
    return list(found.values())


def stems_of(text: str) -> list[str]:
    """Return the words of a plain text without their endings, the commonest too."""
    return [stem(word) for word in _WORD.findall(text)]


def _stands_in(phrase: str, text: str, stems: list[str]) -> bool:
    if has_unspaced(phrase):
        return phrase in text
    wanted = stems_of(phrase)
    return bool(wanted) and any(stems[at : at + len(wanted)] == wanted for at in range(len(stems) - len(wanted) + 1))
