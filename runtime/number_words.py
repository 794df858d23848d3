"""Numbers that are spelled in words, English and Chinese, and numbers with a word for their size behind them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

_TO_NINETEEN = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_BY_TEN = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: value for value, word in enumerate(_TO_NINETEEN)}
_TENS = {word: 10 * value for value, word in enumerate(_BY_TEN, start=2)}
_SIZES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join((*_SMALL, *_TENS, *_SIZES))
_SPELLED = re.compile(rf"\b(?:{_WORD})(?:(?:\s+and\s+|[\s-]+)(?:{_WORD})){{0,30}}\b", re.IGNORECASE)
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}
_CHINESE = re.compile(f"[{''.join((*_DIGITS, *_UNITS, *_MYRIADS))}]{{2,40}}")
_SIZED = re.compile(
    r"(?<![\d,.])(\d[\d,]{0,40}(?:\.\d{1,40})?)"
    rf"(?:\s*({'|'.join(_SIZES)})\b|\s*([{''.join((*_UNITS, *_MYRIADS))}]))",
    re.IGNORECASE,
)


def spelled_in(text: str) -> Iterator[Decimal]:
    """Yield the numbers of a text that are not written in digits alone: `ninety`, `5 million`, `九十`, `½`."""
    for found in _SIZED.finditer(text):
        digits, english, chinese = found.groups()
        size = _SIZES[english.lower()] if english else (_UNITS | _MYRIADS)[chinese]
        yield Decimal(digits.replace(",", "")) * size
    for found in _SPELLED.finditer(text):
        words = [word for word in re.split(r"[\s-]+", found[0].lower()) if word != "and"]
        if words[0] not in _SIZES:  # a million of what stands behind digits was read above
            yield Decimal(_english(words))
    for found in _CHINESE.finditer(text):
        value = _chinese(found[0])
        if value is not None:
            yield Decimal(value)
    for character in text:
        if character not in _DIGITS and not character.isascii() and unicodedata.category(character) in ("No", "Nl"):
            yield Decimal(repr(unicodedata.numeric(character)))


def _english(words: list[str]) -> int:
    whole, part = 0, 0
    for word in words:
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _SIZES:
            whole, part = whole + max(part, 1) * _SIZES[word], 0
        else:
            part += _SMALL.get(word, _TENS.get(word, 0))
    return whole + part


def _chinese(text: str) -> int | None:
    """Return the number; None for words that only hold such characters, like 千万 and 万一."""
    if all(character in _DIGITS for character in text):  # a year is read digit by digit; other pairs are no number
        return int("".join(str(_DIGITS[character]) for character in text)) if "〇" in text or "零" in text else None
    if text[0] not in _DIGITS and text[0] != "十":
        return None
    whole, part, digit = 0, 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _UNITS:
            part, digit = part + (digit or 1) * _UNITS[character], 0
        elif character == "亿":
            whole, part, digit = (whole + part + digit) * _MYRIADS[character], 0, 0
        else:
            whole, part, digit = whole + (part + digit) * _MYRIADS[character], 0, 0
    return whole + part + digit
