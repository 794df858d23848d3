"""Words of a model that repeat a result which the prompt shows: cut to a reference, so that nothing stands twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SPARE = 50
"""Every how many characters of a shown text a window is kept: one of them lies in whatever is long enough to be cut."""


@dataclass(frozen=True, slots=True)
class _Window:
    text: str
    """The whole text that it is from."""
    at: int
    name: str


class Shown:
    """Texts that a prompt shows, ready to be found again in what a model says.

    Args:
        least: consecutive characters from which on a repetition is cut.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._width = max(1, least - _SPARE + 1)
        self._windows: dict[str, _Window] = {}

    def show(self, name: str, text: str) -> None:
        """Take note of a text that is shown under a name."""
        for at in range(0, len(text) - self._width + 1, _SPARE):
            self._windows.setdefault(text[at : at + self._width], _Window(text, at, name))

    def cut(self, words: str) -> tuple[str, Iterable[str]]:
        """Return the words with `[as in NAME]` where they repeat a shown text, and the names of those texts."""
        if not self._windows or len(words) < self._least:
            return words, ()
        kept, names, end = [], [], 0
        for start, stop, name in self._repeated(words):
            kept += [words[end:start], f"[as in {name}]"]
            names.append(name)
            end = stop
        return ("".join([*kept, words[end:]]), dict.fromkeys(names)) if names else (words, ())

    def _repeated(self, words: str) -> Iterator[tuple[int, int, str]]:
        """Yield where a repetition begins and ends, none inside another, and which text it is of."""
        at = end = 0
        while at + self._width <= len(words):
            window = self._windows.get(words[at : at + self._width])
            start, stop = (at, at) if window is None else _widest(words, at, end, window)
            if window is None or stop - start < self._least:
                at += 1
                continue
            yield start, stop, window.name
            at = end = stop


def _widest(words: str, at: int, earliest: int, window: _Window) -> tuple[int, int]:
    """Return how far the words around `at` are those of the text."""
    before, furthest = 0, min(at - earliest, window.at)
    while before < furthest and words[at - before - 1] == window.text[window.at - before - 1]:
        before += 1
    after, most = 0, min(len(words) - at, len(window.text) - window.at)
    while after < most and words[at + after] == window.text[window.at + after]:
        after += 1
    return at - before, at + after
