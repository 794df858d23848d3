"""Words in lines of Markdown, and back exactly: nothing that somebody remembers can look like the file's own marks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SPECIAL = re.compile(r"^(\\*)(#|-{3,}[ \t]*$|- [a-z]+:)|(\\*)<!--", re.MULTILINE)
"""What a line of text may not begin with, nor hold, without a backslash before it."""
_ESCAPED = re.compile(r"^\\(\\*)(#|-{3,}[ \t]*$|- [a-z]+:)|\\(\\*)<!--", re.MULTILINE)
_BLANKS = " \t\r"


def plain_lines(text: str) -> str | None:
    """Return text as lines of Markdown; None where only `quoted` brings it back exactly."""
    if not all(letter.isprintable() or letter == "\n" for letter in text):
        return None
    lines = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    return lines if text and text_of(lines.split("\n")) == text else None


def text_of(lines: Sequence[str]) -> str:
    """Return the text that lines of Markdown say: without blank lines around them, nor blanks at their ends."""
    text = "\n".join(line.rstrip(_BLANKS) for line in lines).strip("\n")
    return _ESCAPED.sub(lambda found: found[0][1:], text)


def quoted(value: str | Sequence[str]) -> str:
    """Return a text, or several, in quotes on one line, where every editor leaves them alone."""
    line = json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line)


def field_line(value: str | Sequence[str]) -> str:
    """Return the value of a field: as it is where that reads back as the same, else in quotes."""
    line = value if isinstance(value, str) else ", ".join(value)
    if not line.isprintable() or line.startswith(('"', "[")):
        return quoted(value)
    back: object = field_value(line) if isinstance(value, str) else field_values(line)
    return line if line and back == (value if isinstance(value, str) else tuple(value)) else quoted(value)


def field_value(line: str) -> str:
    """Return the text that the value of a field says; raise ValueError where its quotes are broken."""
    line = line.strip()
    if not line.startswith('"'):
        return line
    found = json.loads(line)
    if not isinstance(found, str):
        raise ValueError("it is no text in quotes")
    return found


def field_values(line: str) -> tuple[str, ...]:
    """Return the texts that the value of a field lists; raise ValueError where its quotes are broken."""
    line = line.strip()
    if not line.startswith("["):
        return tuple(name for part in line.split(",") if (name := part.strip()))
    found = json.loads(line)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError("it is no list of texts in quotes")
    return tuple(found)
