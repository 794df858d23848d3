"""How values become words: numbers by a pattern, texts so that Markdown and HTML in them stay text."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

_PATTERN = re.compile(r"^(?P<sign>\+)?(?P<thousands>,)?0?(?:\.(?P<decimals>\d+))?(?P<percent> ?%)?$")
_SPECIAL = re.compile(r"[\\*_\[\]|~$^]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff]")
_LINK = re.compile(r"(?=://|@)|(?<=www)(?=\.)", re.IGNORECASE)
_BLOCK = re.compile(r"^(\s*)(?:(#+|[-+=])(?=\s|[-=]|$)|(\d+)([.)])(?=\s|$))")


def escape(text: str) -> str:
    """Return `text` as one line that every Markdown reader shows as it is written, links and HTML included."""
    text = _INVISIBLE.sub("\ufffd", _CONTROL.sub(" ", text))
    text = _SPECIAL.sub(r"\\\g<0>", text)
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = text.replace("<", "&lt;").replace(">", "&gt;").replace("`", "&#96;")
    text = _LINK.sub(lambda _: "\\", text)
    return _BLOCK.sub(_escape_block, text)


def escape_html(text: str) -> str:
    """Return `text` for the inside of an XML element or attribute, without characters that XML refuses."""
    text = _INVISIBLE.sub("\ufffd", _CONTROL.sub(" ", text))
    text = re.sub(r"[\ufffe\uffff]", "\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def format_number(value: Any, pattern: str) -> str:
    """Return a number in the form of `pattern`.

    `,` separates thousands, `0.00` gives two decimals (as does `0.2`), `%` multiplies by a hundred, `+` always shows
    the sign. Halves are rounded away from zero, on the decimal digits as they are printed.

    Raises:
        ValueError: the pattern is not one, or the value is not a number.
    """
    match = _PATTERN.match(pattern)
    if match is None or not pattern:
        raise ValueError(f"{pattern!r} is not a number pattern; write for example `0.1%`, `,`, `0.0` or `+,0.00`")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"{value!r} is not a number; only numbers have a number pattern")
    with localcontext() as exact:
        exact.prec = len(str(value)) + 400  # every digit of any float or integer
        amount = Decimal(str(value)) * (100 if match["percent"] else 1)
        rounded = amount.quantize(Decimal(1).scaleb(-_decimals(match["decimals"])), rounding=ROUND_HALF_UP)
    if rounded == 0:
        rounded = abs(rounded)
    sign = "+" if match["sign"] else ""
    return f"{rounded:{sign}{',' if match['thousands'] else ''}f}" + (" %" if match["percent"] else "")


def _decimals(digits: str | None) -> int:
    if digits is None:
        return 0
    return len(digits) if int(digits) == 0 else min(int(digits), 20)


def _escape_block(match: re.Match[str]) -> str:
    space, marker, number, dot = match.groups()
    return f"{space}\\{marker}" if marker else f"{space}{number}\\{dot}"
