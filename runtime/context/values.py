"""Concrete values in a text: numbers, and ids such as `order/01J9`, `EWR-204` or `anna@example.org`.

By them code judges words of a model: what stands in the words and not in what they are about was invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?")
_PIECE = re.compile(r"[\d.]+")
_LONGEST = 40
"""Characters of a number with separators; what is longer is a list."""
_OPAQUE = re.compile(r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*\d)(?=[0-9A-Za-z]*[A-Za-z])[0-9A-Za-z]{16,}(?![0-9A-Za-z])")
"""A hash or an id without meaning: its digits are no numbers."""
_TOKEN = re.compile(r"(?<![A-Za-z0-9])(?:\d|[A-Za-z][A-Za-z_\-/.:+]{0,120}[\d@])[\w\-/.:@+]*", re.ASCII)
"""What has a digit or an `@` inside; the bound keeps paths without one from being looked at once for each part."""
_JOINT = re.compile(r"[/:,]")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?[a-z]{1,3}", re.ASCII)
"""A number with its unit, such as 24h: the number counts."""
_MARKER = re.compile(r"^[ \t]*\d{1,2}[.)]\s", re.MULTILINE)
"""The number of an item in a list, which is about nothing."""
_GAP = re.compile(r"(?<=\d)\s+(?=[A-Za-z])")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.ASCII)
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_HASH = 64
"""Characters of a reference, which names data and nothing that it is about."""
_ONE_WORD_SCRIPTS = "\u2e80"
"""From here on (Chinese, Japanese, …) letters stand beside each other without being one word."""


class Source:
    """A text, made ready to be asked which values stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _tight(self) -> str:
        return _GAP.sub("", self._text)

    @cached_property
    def _numbers(self) -> set[Decimal]:
        return {number for found in _numbers_in(self._text) for number in found}

    def lacks(self, words: str) -> tuple[str, ...]:
        """Return the numbers and ids of the words that do not stand in the text, each once, as they are written.

        `1,234.50` is `1234.5`; the numbers of a list's items do not count; an id has to stand there whole.
        """
        words = _MARKER.sub("", words)
        ids = list(_ids_in(words))
        lacking = [each for each in ids if not (_stands(each, self._text) or _stands(each, self._tight))]
        plain = words
        for each in ids:
            plain = plain.replace(each, " ")
        for found in _NUMBER.finditer(plain):
            listed = "," in found[0] and _stands(found[0], self._text)  # a list that was copied is no number
            if not listed and _readings(found[0])[0] not in self._numbers:
                lacking.append(found[0])
        return tuple(dict.fromkeys(lacking))

    def has(self, value: str) -> bool:
        """Return whether a value stands in the text, and not merely as a part of another one."""
        return _stands(value, self._text)


def entities_of(text: str, *, most: int) -> Mapping[str, tuple[str, ...]]:
    """Return what the text names, by kind: `ids`, `mails`, `dates`; at most so many of each, in reading order."""
    mails = _first(most, (found[0] for found in _MAIL.finditer(text)))
    dates = _first(most, (found[0] for found in _DATE.finditer(text)))
    ids = _first(
        most, (each for each in _ids_in(text) if "@" not in each and len(each) < _HASH and not _DATE.match(each))
    )
    found = {"ids": ids, "mails": mails, "dates": dates}
    return {kind: named for kind, named in found.items() if named}


def _first(most: int, found: Iterable[str]) -> tuple[str, ...]:
    """Return the first values that differ, and look no further."""
    kept: dict[str, None] = {}
    for each in found:
        if len(kept) >= most:
            break
        kept[each] = None
    return tuple(kept)


def _numbers_in(text: str) -> Iterator[tuple[Decimal, ...]]:
    for found in _NUMBER.finditer(_OPAQUE.sub(" ", text)):
        yield _readings(found[0])


def _readings(number: str) -> tuple[Decimal, ...]:
    """Return what a number may mean: the whole, and what stands between commas, which may separate items of a list."""
    if "," not in number:
        return (Decimal(number),)
    parts = tuple(map(Decimal, _PIECE.findall(number)))
    return (Decimal(number.replace(",", "")), *parts) if len(number) <= _LONGEST else (parts[0], *parts)


def _ids_in(text: str) -> Iterator[str]:
    """Yield what has both letters and digits, or an `@` inside; what is joined by `/` or `:` piece by piece."""
    for found in _TOKEN.finditer(text):
        token = found[0].rstrip("-/.:@+_")
        for each in (token,) if "@" in token else _JOINT.split(token):
            if _is_id(each):
                yield each


def _is_id(token: str) -> bool:
    if "@" in token:
        return True
    return any(map(str.isdigit, token)) and any(map(str.isalpha, token)) and not _AMOUNT.fullmatch(token)


def _stands(value: str, text: str) -> bool:
    if not value:
        return False
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not (_one_word(before, value[0]) or _one_word(value[-1], after)):
            return True
        at = text.find(value, at + 1)
    return False


def _one_word(left: str, right: str) -> bool:
    """Return whether two characters beside each other belong to one word or number."""
    if not left or not right:
        return False
    if left.isdigit() or right.isdigit():
        return left.isdigit() and right.isdigit()
    return left.isalpha() and right.isalpha() and max(left, right) < _ONE_WORD_SCRIPTS
