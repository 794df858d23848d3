"""Whether words are new: what repeats what was shown to whoever speaks is nothing to remember.

Compared are runs of words, so that a recalled memory is known again inside a longer sentence, with another case, or
with a word or two changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from runtime.search import plain, tokens

_RUN = 3
"""Words of a run."""
_SAME = 0.7
"""Share of the runs of a sentence that stand in what was shown, from which on it is that."""


def repeats(sentence: str, shown: Iterable[str]) -> bool:
    """Whether a sentence says what one of the texts that were shown says."""
    wanted, words = _runs(sentence), " ".join(plain(sentence).split())
    for text in shown:
        if words and words in " ".join(plain(text).split()):
            return True
        if wanted and len(wanted & _runs(text)) >= _SAME * len(wanted):
            return True
    return False


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return all runs of words; of a short text, itself."""
    words = tokens(text)
    if len(words) < _RUN:
        return {tuple(words)} if words else set()
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}
