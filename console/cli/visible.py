"""Text that came from outside, made safe to look at: what a terminal would obey or hide is shown as an escape."""

from __future__ import annotations

import re
import unicodedata

LINE_BREAK = "⏎"
"""What a line break inside a value is shown as: only this program begins lines."""

_NAMED = {"\n": LINE_BREAK, "\t": r"\t", "\r": r"\r"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, format characters (bidi controls, zero widths, tags), lone surrogates, line and paragraph separators."""
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing (Unicode: Default_Ignorable_Code_Point, and the blank Braille cell)."""


def is_hidden(letter: str) -> bool:
    """Whether a terminal would obey the character, or show nothing of it."""
    return unicodedata.category(letter) in _HIDDEN or _BLANK.match(letter) is not None


def visible(text: str) -> str:
    """Return `text` on one line, with every hidden character as an escape such as `\\x1b` or `\\u202e`."""
    if text.isprintable() and not _BLANK.search(text):
        return text
    return "".join(shown(letter) for letter in text)


def shown(letter: str) -> str:
    """Return one character as `visible` shows it."""
    if not is_hidden(letter):
        return letter
    if letter in _NAMED:
        return _NAMED[letter]
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible_json(text: str) -> str:
    """Return JSON that means exactly the same, with every hidden character inside its strings as `\\uXXXX`."""
    plain = text.replace("\n", "")  # the breaks of the layout; those inside strings are escaped already
    if plain.isprintable() and not _BLANK.search(plain):
        return text
    return "".join(letter if letter == "\n" or not is_hidden(letter) else _json_escape(letter) for letter in text)


def _json_escape(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
