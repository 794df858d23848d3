"""`outline`: how stored data is built, with addresses for the other tools."""

from __future__ import annotations

from collections.abc import Iterator

from contracts import Json
from runtime.context.bounds import counted, packed
from runtime.context.digest import described, length_of, title_of
from runtime.context.inspect.places import Leaf, leaves
from runtime.context.reading.anchors import Path, path_text
from runtime.context.reading.kinds import Kind, open_value

_SHOWN = 20
"""Rows, tables, paragraphs or lines of each kind."""
_TEXTS = 3
"""Long texts inside a JSON value that are told of."""
_LONG = 500
_LOOKED_AT = 2_000
"""Single values of a JSON value among which its long texts are looked for, the first ones."""


def outline(value: Json, *, limit: int) -> str:
    """Return the structure of a value, in at most `limit` characters.

    JSON: paths with types, lengths and first values. A table: columns, types, rows. A text: headings and paragraphs. A
    page: title, headings, tables. A log: times, levels, grave lines. Long texts inside JSON are told of too, each
    under its path.
    """
    opened = open_value(value)
    head = f"{title_of(opened)}, {counted(length_of(value), 'character')}"
    if opened.kind is not Kind.JSON:
        return packed([head, *described(opened, limit, samples=True, most=_SHOWN)], limit)
    texts = sorted(_long_texts(opened.value), key=lambda leaf: (-len(str(leaf.value)), leaf.path))[:_TEXTS]
    room = limit if not texts else limit // 2
    inside = packed([head, *described(opened, room - len(head) - 1, samples=True, most=_SHOWN)], room)
    parts = [inside]
    for leaf in texts:
        left = limit - sum(map(len, parts)) - len(parts)
        part = _text_at(leaf.path, str(leaf.value), min(left, limit // (2 * len(texts)) - 1))
        parts += [part] if part else []
    return packed(parts, limit)


def _long_texts(value: Json) -> Iterator[Leaf]:
    for number, leaf in enumerate(leaves(value)):
        if number == _LOOKED_AT:
            return
        if isinstance(leaf.value, str) and len(leaf.value) > _LONG:
            yield leaf


def _text_at(path: Path, text: str, room: int) -> str:
    opened = open_value(text)
    head = f"Text at {path_text(path)}: {title_of(opened)}, {len(text):,} characters"
    if len(head) > room:
        return ""
    return packed([head, *described(opened, room - len(head) - 1, samples=True, most=_SHOWN // 2)], room)
