"""The shape of a JSON value: which fields there are, of which types, the items of an array taken together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from contracts import Json
from runtime.context.bounds import counted, more, one_line, rendered
from runtime.context.reading.anchors import general

_LOOKED_AT = 50
"""Items of one array, and fields of one object, that are looked into; the first ones."""
_WORK = 4_000
"""Values that are looked at in all."""
_DEEPEST = 12
_SAMPLE = 80
_OUTLINED_DEEPEST = 3
_OUTLINED_FIELDS, _OUTLINED_NAME = 8, 40
"""Fields of one object that an outline in one line names, and characters of each name."""


@dataclass(slots=True)
class Shape:
    """What stands at one place, or at the same place of every item."""

    path: tuple[str | int, ...]
    first: Json
    """The first value there."""
    several: bool
    """Whether it is told of several items at once."""
    types: dict[str, int] = field(default_factory=dict)
    """Name of a type → how many values have it."""
    longest: int = 0
    """Characters of the longest text, items of the longest array, or fields of the largest object."""
    fields: dict[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    missing: bool = False
    """Whether some of the objects that were looked at do not have it."""

    @property
    def below(self) -> Sequence[Shape]:
        """The places directly inside that have a line of their own."""
        inside = tuple(self.fields.values())
        if self.items is None or not {"array", "object"} & self.items.types.keys():
            return inside  # what single values an array has is told with it
        return (*inside, self.items)


def type_of(value: Json) -> str:
    """Return the name of a value's type, as models know it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "array"
        case _:
            return "object"


def shape_of(value: Json) -> Shape:
    """Return the shape of a value. Looks at no more than some thousand values, however large it is."""
    root = Shape((), value, several=False)
    waiting: list[tuple[Shape, list[Json]]] = [(root, [value])]
    work = 0
    for shape, values in waiting:  # which grows while it is gone through: nearest places first
        work += len(values)
        _take_in(shape, values)
        if work < _WORK and len(shape.path) < _DEEPEST:
            waiting.extend(_inside(shape, values))
    return root


def _take_in(shape: Shape, values: Sequence[Json]) -> None:
    for value in values:
        name = type_of(value)
        shape.types[name] = shape.types.get(name, 0) + 1
        if isinstance(value, str | list | dict):
            shape.longest = max(shape.longest, len(value))


def _inside(shape: Shape, values: Sequence[Json]) -> Iterator[tuple[Shape, list[Json]]]:
    objects = [value for value in values if isinstance(value, dict)]
    found: dict[str, list[Json]] = {}
    for each in objects:
        for name in islice(each, _LOOKED_AT):
            if name in found or len(found) < _LOOKED_AT:
                found.setdefault(name, []).append(each[name])
    for name, inside in found.items():
        shape.fields[name] = Shape((*shape.path, name), inside[0], shape.several)
        shape.fields[name].missing = any(name not in each for each in objects)
        yield shape.fields[name], inside
    items = [item for value in values if isinstance(value, list) for item in islice(value, _LOOKED_AT)][
        : _LOOKED_AT * 4
    ]
    if items:
        shape.items = Shape((*shape.path, 0), items[0], several=True)
        yield shape.items, items


def shape_lines(root: Shape, limit: int, *, samples: bool) -> list[str]:
    """Return a line for each place, as many as `limit` characters hold: those nearest to the root, in reading order."""
    chosen: set[int] = set()
    waiting, left, used = [root], 0, 0
    for shape in waiting:
        length = len(_line_of(shape, samples=samples)) + 1
        if left or used + length > limit - 40:  # room for saying how many are left out
            left += 1
        else:
            chosen.add(id(shape))
            used += length
        waiting.extend(shape.below)
    lines = [_line_of(shape, samples=samples) for shape in _in_order(root) if id(shape) in chosen]
    return [*lines, more(left, "places inside")] if left else lines


def outlined(root: Shape, limit: int) -> str:
    """Return the fields of a value in one line, `{count, rows: 83 × {eta, state}}`, as deep as `limit` allows."""
    for depth in range(_OUTLINED_DEEPEST, 0, -1):
        text = _outlined(root, depth)
        if len(text) <= limit:
            return text
    return one_line(_outlined(root, 1), limit)


def _outlined(shape: Shape, depth: int) -> str:
    kind = next(iter(shape.types), "null")
    if kind == "array":
        inside = _outlined(shape.items, depth - 1) if shape.items is not None and depth > 1 else "items"
        return f"{shape.longest:,} × {inside}"
    if kind != "object":
        return kind
    if depth == 0:
        return "object"
    names = list(islice(shape.fields.items(), _OUTLINED_FIELDS))
    told = [
        one_line(name, _OUTLINED_NAME) + (f": {_outlined(each, depth - 1)}" if depth > 1 and _holds(each) else "")
        for name, each in names
    ]
    rest = shape.longest - len(told)
    return f"{{{', '.join([*told, *([more(rest)] if rest > 0 else [])])}}}"


def _holds(shape: Shape) -> bool:
    return bool({"array", "object"} & shape.types.keys())


def _in_order(root: Shape) -> Iterator[Shape]:
    stack = [root]
    while stack:
        shape = stack.pop()
        yield shape
        stack.extend(reversed(shape.below))


def _line_of(shape: Shape, *, samples: bool) -> str:
    told = f"{one_line(general(shape.path), 200)} {' or '.join(map(_type_text, _types(shape)))}"
    if shape.missing:
        told += ", not in all"
    return f"{told}{_sample_of(shape)}" if samples else told


def _types(shape: Shape) -> Iterator[tuple[str, Shape]]:
    for name in shape.types:
        yield name, shape


def _type_text(each: tuple[str, Shape]) -> str:
    name, shape = each
    up_to = "up to " if shape.several else ""
    if name == "text" and shape.longest > _SAMPLE:
        return f"text of {up_to}{shape.longest:,} characters"
    if name == "array":
        inside = (
            " or ".join(f"{kind}s" if kind != "null" else kind for kind in shape.items.types) if shape.items else ""
        )
        return f"array of {up_to}{shape.longest:,} {inside or 'items'}"
    if name == "object":
        shown = len(shape.fields)
        told = f"object, {up_to}{counted(shape.longest, 'field')}"
        return f"{told}, the first {shown:,} below" if shape.longest > shown > 0 else told
    return name


def _sample_of(shape: Shape) -> str:
    first = shape.first
    if isinstance(first, dict):
        return ""
    if isinstance(first, list):
        return "" if not first or isinstance(first[0], dict | list) else f", {_items_text(first)}"
    return f"{', first' if shape.several else ' ='} {rendered(first, _SAMPLE)}"


def _items_text(items: Sequence[Json]) -> str:
    shown = ", ".join(rendered(item, _SAMPLE // 3) for item in items[:3])
    return f"first {shown}" if len(items) <= 3 else f"first {shown}, {more(len(items) - 3)}"
