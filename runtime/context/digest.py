"""What code alone can say of a value in a few lines: what it is, how large, its fields with types, its first items."""

from __future__ import annotations

from collections.abc import Iterator

from contracts import Json
from runtime.canonical import to_text
from runtime.context.bounds import counted, one_line, packed
from runtime.context.reading.kinds import Kind, Opened, open_value
from runtime.context.reading.logs import log_lines
from runtime.context.reading.pages import page_lines
from runtime.context.reading.prose import prose_lines
from runtime.context.reading.shape import outlined, shape_lines, shape_of, type_of
from runtime.context.reading.tables import table_lines

_SHOWN = 3
"""Rows, tables, paragraphs or usual lines that a digest shows."""


def digest(value: Json, *, limit: int, length: int | None = None, without_samples: bool = False) -> str:
    """Return a structural digest of a value; the same value always gives the same.

    Numbers and ids in it stand as they do in the value. Deterministic, in any script, and never longer than `limit`
    characters; of a large JSON value only the first items are looked at.

    Args:
        length: characters of the value's canonical text, where the caller has it; counted here else.
        without_samples: leave out what the value holds, and say only what it is.
    """
    opened = open_value(value)
    head = f"{title_of(opened)}, {counted(length_of(value) if length is None else length, 'character')}"
    lines = [head, *described(opened, limit - len(head) - 1, samples=not without_samples, most=_SHOWN)]
    return packed(lines, limit)


def gist(value: Json, *, limit: int, length: int) -> str:
    """Return in one line of at most `limit` characters what a value is, without anything it holds.

    Args:
        length: characters of the value's canonical text.
    """
    size, opened = counted(length, "character"), open_value(value)
    if opened.kind is Kind.JSON:
        return f"{outlined(shape_of(opened.value), limit - len(size) - 2)}, {size}"
    lines = described(opened, limit, samples=False, most=_SHOWN)
    return one_line("; ".join([f"{title_of(opened)}, {size}", *(line.strip() for line in lines)]), limit)


def length_of(value: Json) -> int:
    """Return the characters of a value: of a text itself, of anything else as canonical JSON."""
    return len(value) if isinstance(value, str) else len(to_text({"": value})) - len('{"":}')


def title_of(opened: Opened) -> str:
    """Return in a word or two what a value is."""
    if opened.kind is Kind.JSON:
        return f"JSON {type_of(opened.value)}"
    return {Kind.CSV: "CSV table", Kind.HTML: "HTML page", Kind.LOG: "Log", Kind.TEXT: "Text"}[opened.kind]


def described(opened: Opened, limit: int, *, samples: bool, most: int) -> Iterator[str]:
    """Yield lines on the structure of a value, most important first; `most` of each kind of sample."""
    if opened.table is not None:
        yield from table_lines(opened.table, samples=samples, rows=most)
    elif opened.page is not None:
        yield from page_lines(opened.page, samples=samples, most=most)
    elif opened.kind is Kind.LOG:
        yield from log_lines(opened.lines, samples=samples, most=most)
    elif opened.kind is Kind.TEXT:
        yield from prose_lines(opened.lines, samples=samples, most=most)
    else:
        yield from shape_lines(shape_of(opened.value), limit, samples=samples)
