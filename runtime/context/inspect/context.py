"""`context`: what stands at an address of stored data, and around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts import Json
from runtime.context.bounds import excerpt, more, packed, rendered, shortened, spelled
from runtime.context.errors import AnchorUnknown
from runtime.context.inspect.places import Items, Lines, is_long, leaves, lines_at, lines_of
from runtime.context.reading.anchors import Anchor, Path, path_text, read_anchor, value_at
from runtime.context.reading.kinds import Kind, Opened, open_value

_AROUND = 500
"""A line longer than this is shown around the place that is meant."""


def context(value: Json, anchor: str, before: int, after: int, *, limit: int) -> str:
    """Return what stands at an anchor, and `before` and `after` lines or items around it; at most `limit` characters.

    Args:
        anchor: an address that outline, search, head or tail gave (`$.rows[3]`, `L12`, `L12:400`, `$.body L12`), or a
            text that stands in the data: then its first place.

    Raises:
        AnchorUnknown: the data has no such place, and the anchor does not stand in it.
    """
    opened = open_value(value)
    place = read_anchor(anchor)
    if place is None:
        place = _first_place_of(opened, anchor.strip())
    before, after = max(0, before), max(0, after)
    if place.line is not None:
        return _lines_around(lines_at(value, place.path), place, before, after, limit)
    assert place.path is not None
    if opened.kind is not Kind.JSON:
        raise AnchorUnknown("The data has lines and no paths. Use a line such as L12.", happened="no")
    return _items_around(opened.value, place.path, before, after, limit)


def _first_place_of(opened: Opened, text: str) -> Anchor:
    exact = re.compile(re.escape(text), re.IGNORECASE)
    if text and opened.kind is Kind.JSON:
        for leaf in leaves(opened.value):
            if isinstance(leaf.value, dict | list) or not exact.search(spelled(leaf.value)):
                continue
            if isinstance(leaf.value, str) and is_long(leaf.value):
                place = _first_line(lines_of(leaf.path, leaf.value), exact)
                if place is not None:
                    return place
            return Anchor(leaf.path)
    elif text:
        place = _first_line(Lines(None, opened.lines), exact)
        if place is not None:
            return place
    raise AnchorUnknown(
        f"{text[:80]!r} is no address of this data, and does not stand in it. Use an address as outline or search gave "
        "it: a path such as $.rows[3], or a line such as L12.",
        happened="no",
    )


def _first_line(place: Lines, exact: re.Pattern[str]) -> Anchor | None:
    for number, line in enumerate(place.lines, 1):
        found = exact.search(line)
        if found:
            return Anchor(place.path, number, found.start() + 1 if len(line) > _AROUND else None)
    return None


def _lines_around(place: Lines, anchor: Anchor, before: int, after: int, limit: int) -> str:
    number = anchor.line
    assert number is not None
    total = len(place.lines)
    if number > total:
        raise AnchorUnknown(f"There is no L{number}: it has {total:,} lines.", happened="no")
    first, last = max(1, number - before), min(total, number + after)
    around = [each for each in _nearest(number, first, last) if each != number]
    most = limit if not around else max(_AROUND, limit // 2)
    line = _line(place.lines[number - 1], anchor.column, most - 80)
    shown = {number: f"{place.address(number, anchor.column)} {line}"}
    used = len(shown[number]) + sum(map(len, place.head()))
    for each in around:
        told = f"{place.address(each)} {shortened(place.lines[each - 1], _AROUND)}"
        used += len(told) + 1
        if used > limit - 40:
            break
        shown[each] = told
    left = last - first + 1 - len(shown)
    lines = [shown[each] for each in sorted(shown)]
    return packed([*place.head(), *lines, *((more(left, "around"),) if left else ())], limit)


def _line(line: str, column: int | None, most: int) -> str:
    if column is None:
        return shortened(line, most)
    at = min(column - 1, len(line))
    return excerpt(line, at, at, min(most, 2 * _AROUND))


def _nearest(middle: int, first: int, last: int) -> Iterator[int]:
    """Yield the numbers from `first` to `last`, those nearest to the middle first."""
    for distance in range(max(middle - first, last - middle) + 1):
        for each in (middle - distance, middle + distance) if distance else (middle,):
            if first <= each <= last:
                yield each


def _items_around(value: Json, path: Path, before: int, after: int, limit: int) -> str:
    meant = value_at(value, path)
    head = f"{shortened(path_text(path), 300)} {rendered(meant, limit // 2)}"
    outer = _item_of(path)
    if outer is None or not before + after:
        return packed([f"{shortened(path_text(path), 300)} {rendered(meant, limit - 310)}"], limit)
    items = Items(path[:outer], value_at(value, path[:outer]))
    position = items.position_of(path[outer])
    first, last = max(0, position - before), min(len(items) - 1, position + after)
    shown: dict[int, str] = {}
    used = len(head)
    for each in _nearest(position, first, last):
        if each == position and outer == len(path) - 1:
            shown[each] = head
            continue
        address, item = items.at(each)
        told = f"{shortened(address, 300)} {rendered(item, limit // 4)}"
        used += len(told) + 1
        if used > limit - 40:
            break
        shown[each] = told
    lines = [shown[each] for each in sorted(shown)]
    left = last - first + 1 - len(shown)
    above = [] if outer == len(path) - 1 else [head]
    return packed([*above, *lines, *((more(left, "around"),) if left > 0 else ())], limit)


def _item_of(path: Path) -> int | None:
    """Return which step of a path says the item of the innermost array that it leads through, else its last step."""
    inner = [number for number, step in enumerate(path) if isinstance(step, int)]
    return inner[-1] if inner else len(path) - 1 if path else None
