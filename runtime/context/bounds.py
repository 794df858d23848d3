"""Texts that keep a bound, cut where no number, id or word is torn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from json.encoder import encode_basestring
from typing import TypeVar

from contracts import Json
from runtime.canonical import MAX_DEPTH, clean_text

_T = TypeVar("_T")
_TORN = 100
"""A word, number or id of up to this many characters is kept whole or left out; what is longer has no end to lose."""
_JOINED = re.compile(r"[\w.,:+/@%-]")
"""Characters that may stand inside a number with its thousands, a time, an address or an id."""
_CLOSE = re.compile(r"[\w.-]")
"""Those that always do: commas and colons also stand between numbers, without a space."""


class Spelled(float):
    """A number of a JSON text as it was written there: 1.10 stays 1.10."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Spelled:
        """Return the number that `text` spells."""
        number = super().__new__(cls, text)
        number.text = text
        return number


def more(count: int, what: str = "") -> str:
    """Return what stands for `count` things that are left out."""
    return f"… and {count:,} more{' ' if what else ''}{what}"


def counted(count: int, what: str) -> str:
    """Return a number with what it counts, in the singular or plural."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def shortened(text: str, most: int) -> str:
    """Return at most `most` characters of a text, its beginning; what is cut ends with `…` and between two words."""
    if len(text) <= most:
        return text
    return f"{text[: _end(text, most - 1)]}…" if most > 0 else ""


def excerpt(text: str, start: int, end: int, most: int) -> str:
    """Return at most `most` characters of a text around what stands from `start` to `end`, cut between words."""
    if len(text) <= most:
        return text
    around = max(0, most - 2 - (end - start)) // 2
    first = _beginning(text, max(0, start - around), start) if start > around else 0
    room = max(0, most - 1 - (first > 0))
    return ("…" if first else "") + shortened(text[first : first + room + _TORN + 1], room + 1 if room else 0)


def _end(text: str, at: int) -> int:
    """Return where to cut at or before `at` so that nothing is torn; `at` where that would lose too much."""
    for joined in (_JOINED, _CLOSE):
        end = next((end for end in range(at, max(0, at - _TORN) - 1, -1) if not _inside(text, end, joined)), None)
        if end:
            return end
    return at


def _beginning(text: str, at: int, latest: int) -> int:
    for joined in (_JOINED, _CLOSE):
        for start in range(at, min(latest, at + _TORN) + 1):
            if not _inside(text, start, joined):
                return start
    return at


def _inside(text: str, at: int, joined: re.Pattern[str]) -> bool:
    """Whether a cut before the character at `at` would tear a word that is written with spaces, a number or an id."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _unspaced(before) or _unspaced(after):
        return False
    return bool(joined.match(before) and joined.match(after))


def _unspaced(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff"


def one_line(text: str, most: int) -> str:
    """Return the beginning of a text in one line of at most `most` characters."""
    return shortened(" ".join(shortened(text, 4 * most + _TORN).split()), most)


def packed(lines: Iterable[str], limit: int, *, total: int | None = None, what: str = "") -> str:
    """Return as many lines as `limit` characters hold, and how many are left out where some are.

    Args:
        total: how many lines there are, where `lines` is an iterator that should not be read to its end.
        what: what the lines are, in the plural.
    """
    if total is None:
        lines = list(lines)
        total = len(lines)
    kept: list[str] = []
    used = 0
    for line in lines:
        rest = total - len(kept) - 1
        room = limit - used - (len(more(rest, what)) + 1 if rest else 0)
        if len(line) > room:
            if not kept:
                kept.append(shortened(line, room))
            break
        kept.append(line)
        used += len(line) + 1
    left = total - len(kept)
    if left > 0:
        kept.append(more(left, what))
    return clean_text(shortened("\n".join(kept), limit))


def rendered(value: Json, most: int) -> str:
    """Return at most `most` characters of a value's JSON text; what is cut ends with `…`. Reads little more."""
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value, most + _TORN + 1, MAX_DEPTH):
        pieces.append(piece)
        length += len(piece)
        if length > most + _TORN:
            break
    return shortened("".join(pieces), most)


def spelled(value: Json) -> str:
    """Return the text of a value that holds no others, as it was written; a text without its quotes."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case Spelled():
            return value.text
        case int() | float():
            return repr(value)
    raise TypeError(f"{type(value).__name__} holds other values")


def _pieces(value: Json, most: int, depth: int) -> Iterator[str]:
    if not isinstance(value, dict | list):
        yield encode_basestring(value[:most]) if isinstance(value, str) else spelled(value)
    elif depth == 0:
        yield "…"
    elif isinstance(value, dict):
        yield from _members(value.items(), lambda pair: _member(pair, most, depth), "{}")
    else:
        yield from _members(value, lambda item: _pieces(item, most, depth - 1), "[]")


def _member(pair: tuple[str, Json], most: int, depth: int) -> Iterator[str]:
    yield f"{encode_basestring(pair[0][:most])}:"
    yield from _pieces(pair[1], most, depth - 1)


def _members(items: Iterable[_T], each: Callable[[_T], Iterator[str]], brackets: str) -> Iterator[str]:
    yield brackets[0]
    source = iter(items)
    for item in islice(source, 1):
        yield from each(item)
    for item in source:
        yield ","
        yield from each(item)
    yield brackets[1]
