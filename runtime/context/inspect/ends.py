"""`head` and `tail`: the first and last items or lines of stored data."""

from __future__ import annotations

from itertools import chain

from contracts import Json
from runtime.context.bounds import more, packed, rendered, shortened
from runtime.context.inspect.places import Items, Lines, collection_at
from runtime.context.reading.anchors import path_text


def head(value: Json, n: int, *, limit: int, at: str = "") -> str:
    """Return the first `n` items or lines, in at most `limit` characters.

    Args:
        at: path of the array, object or text to go through; empty for the data itself, of an object its longest array.

    Raises:
        AnchorUnknown: there is nothing to go through at that path.
    """
    place = collection_at(value, at)
    total = _count(place)
    shown = min(max(1, n), total)
    title = _title(place, f"first {shown:,} of {total:,}")
    told = (_one(place, position, limit) for position in range(shown))
    return packed(chain((title,), told), limit, total=shown + 1, what="of them")


def tail(value: Json, n: int, *, limit: int, at: str = "") -> str:
    """Return the last `n` items or lines in their order, in at most `limit` characters; the very last always.

    Raises:
        AnchorUnknown: there is nothing to go through at that path.
    """
    place = collection_at(value, at)
    total = _count(place)
    shown = min(max(1, n), total)
    title = _title(place, f"last {shown:,} of {total:,}")
    lines: list[str] = []
    room = limit - len(title) - 40  # for saying how many are left out
    for position in range(total - 1, total - 1 - shown, -1):
        line = _one(place, position, room)
        if lines and sum(map(len, lines)) + len(lines) + len(line) > room:
            break
        lines.append(shortened(line, max(room, 1)))
    left = shown - len(lines)
    return packed([title, *((more(left, "before"),) if left else ()), *reversed(lines)], limit)


def _title(place: Lines | Items, shown: str) -> str:
    what = "lines" if isinstance(place, Lines) else "fields" if isinstance(place.value, dict) else "items"
    where = f" of {shortened(path_text(place.path), 200)}" if place.path else ""
    return f"{what}{where}, {shown}:"


def _count(place: Lines | Items) -> int:
    return len(place.lines) if isinstance(place, Lines) else len(place)


def _one(place: Lines | Items, position: int, most: int) -> str:
    if isinstance(place, Lines):
        return f"{place.address(position + 1)} {shortened(place.lines[position], most)}"
    address, item = place.at(position)
    return f"{shortened(address, 200)} {rendered(item, most)}"
