"""Plain text: headings where it has some, else where its paragraphs begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runtime.context.bounds import counted, one_line
from runtime.context.reading.anchors import line_text

_HEADING = re.compile(
    r"#{1,6}\s+\S|第[一二三四五六七八九十百\d]+[章节条部]|[一二三四五六七八九十]{1,3}、\S|(?:\d{1,2}\.){1,4}\s+\S"
)
_UNDERLINED = re.compile(r"(=|-){3,}\s*")
_LONGEST = 120
"""A longer line is no heading, whatever it begins with."""


def headings(lines: Sequence[str]) -> list[int]:
    """Return the lines, from 1, that are headings."""
    found: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line or len(line) > _LONGEST:
            continue
        below = lines[number] if number < len(lines) else ""
        if _HEADING.match(line) or (below[:1] in ("=", "-") and line.strip() and _UNDERLINED.fullmatch(below)):
            found.append(number)
    return found


def paragraphs(lines: Sequence[str]) -> list[int]:
    """Return the lines, from 1, in which a paragraph begins: the first, and each after an empty one."""
    found: list[int] = []
    above = ""
    for number, line in enumerate(lines, 1):
        if line and not above.strip() and line.strip():
            found.append(number)
        above = line
    return found


def prose_lines(lines: Sequence[str], *, samples: bool, most: int) -> Iterator[str]:
    """Yield what there is to say about a text: its size, its headings, and the beginnings of `most` paragraphs."""
    titled, begun = headings(lines), paragraphs(lines)
    yield f"{counted(len(lines), 'line')}, {counted(len(begun), 'paragraph')}"
    for number in titled:
        yield f"{line_text(None, number)} {one_line(lines[number - 1], _LONGEST)}"
    if not samples or len(titled) > most:
        return
    stride = -(-len(begun) // most) if begun else 1
    if stride > 1:
        yield f"beginnings of one paragraph in {stride:,}:"
    known = set(titled)
    for number in begun[::stride]:
        if number not in known:
            yield f"{line_text(None, number)} {one_line(lines[number - 1], _LONGEST)}"
