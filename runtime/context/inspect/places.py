"""Where the inspect tools look: the single values of JSON, and the lines of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from contracts import Json
from runtime.context.bounds import one_line
from runtime.context.errors import AnchorUnknown
from runtime.context.reading.anchors import Path, line_text, path_text, read_anchor, value_at
from runtime.context.reading.kinds import Kind, Opened, open_value

_LONG = 2_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value in JSON: a text, a number, true, false or null; an array or object only where it is empty."""

    path: Path
    value: Json


@dataclass(frozen=True, slots=True)
class Lines:
    """A text as lines, whole or inside JSON."""

    path: Path | None
    """Where in JSON the text stands; None where it is the data itself."""
    lines: Sequence[str]
    names: str = ""
    """Of a table, the line that names its columns."""

    def head(self) -> Sequence[str]:
        """Return what goes above lines that are shown without the first: the names of columns."""
        return (f"columns: {one_line(self.names, 200)}",) if self.names else ()

    def address(self, number: int, column: int | None = None) -> str:
        """Return the address of a line, counted from 1."""
        return line_text(self.path, number, column)


@dataclass(frozen=True)
class Items:
    """An array, or the fields of an object, by which one can go."""

    path: Path
    value: Json

    def __len__(self) -> int:
        return len(self.value) if isinstance(self.value, list | dict) else 0

    def at(self, position: int) -> tuple[str, Json]:
        """Return the address and the value of an item."""
        if isinstance(self.value, list):
            return path_text((*self.path, position)), self.value[position]
        assert isinstance(self.value, dict)
        name = self._names[position]
        return path_text((*self.path, name)), self.value[name]

    def position_of(self, step: str | int) -> int:
        """Return which of the items a step leads to."""
        return step if isinstance(step, int) else self._names.index(step)

    @cached_property
    def _names(self) -> Sequence[str]:
        return tuple(self.value) if isinstance(self.value, dict) else ()


def leaves(value: Json) -> Iterator[Leaf]:
    """Yield the single values of a JSON value in their order."""
    stack: list[tuple[Path, Iterator[tuple[str | int, Json]]]] = [((), iter((("", value),)))]
    root = True
    while stack:
        path, source = stack[-1]
        following = next(source, None)
        if following is None:
            stack.pop()
            continue
        step, inside = following
        here: Path = () if root else (*path, step)
        root = False
        if isinstance(inside, dict) and inside:
            stack.append((here, iter(inside.items())))
        elif isinstance(inside, list) and inside:
            stack.append((here, iter(enumerate(inside))))
        else:
            yield Leaf(here, inside)


def lines_in(opened: Opened, path: Path | None = None) -> Lines:
    """Return the lines of a text that was opened."""
    return Lines(path, opened.lines, opened.lines[0] if opened.table is not None else "")


def lines_of(path: Path, text: str) -> Lines:
    """Return the lines of a text inside JSON; of a page, those of its readable text."""
    opened = open_value(text)
    return lines_in(opened, path) if opened.kind is not Kind.JSON else Lines(path, tuple(text.split("\n")))


def is_long(text: str) -> bool:
    """Whether a text inside JSON is gone through line by line."""
    return "\n" in text or len(text) > _LONG


def lines_at(value: Json, path: Path | None) -> Lines:
    """Return the lines of a text: of the data itself, or of the text at a path of it.

    Raises:
        AnchorUnknown: there is none; it says what is there.
    """
    if path is None:
        opened = open_value(value)
        if opened.kind is not Kind.JSON:
            return lines_in(opened)
        raise AnchorUnknown(
            "The data is JSON and has no lines of its own. Use a path such as $.rows[3], or a path and a line of the "
            "text that stands there, such as $.body L12.",
            happened="no",
        )
    inside = value_at(open_value(value).value, path)
    if isinstance(inside, str):
        return lines_of(path, inside)
    raise AnchorUnknown(f"At {path_text(path)} there is no text with lines. Use the path alone.", happened="no")


def collection_at(value: Json, at: str) -> Lines | Items:
    """Return what one can go through at an address; without one, the data itself, or what is longest in it.

    Raises:
        AnchorUnknown: it is no address of this data, or a single short value is there.
    """
    opened = open_value(value)
    if not at.strip():
        return lines_in(opened) if opened.kind is not Kind.JSON else _longest(opened.value)
    anchor = read_anchor(at)
    if anchor is None or anchor.path is None or opened.kind is not Kind.JSON:
        raise AnchorUnknown(
            f"{at[:80]!r} is no path into this data. Leave it out, or give one such as $.rows that outline told.",
            happened="no",
        )
    inside = value_at(opened.value, anchor.path)
    if isinstance(inside, list | dict):
        return Items(anchor.path, inside)
    if isinstance(inside, str):
        return lines_at(value, anchor.path)
    raise AnchorUnknown(f"At {at[:200]} there is a single value, and nothing to go through.", happened="no")


def _longest(value: Json) -> Lines | Items:
    """Return an array itself; of an object its longest array, else its longest text of lines, else its fields."""
    if not isinstance(value, dict):
        return Items((), value if isinstance(value, list) else [value])
    arrays = {name: inside for name, inside in value.items() if isinstance(inside, list) and len(inside) > 1}
    if arrays:
        name = max(arrays, key=lambda each: len(arrays[each]))
        return Items((name,), arrays[name])
    texts = {name: inside for name, inside in value.items() if isinstance(inside, str) and "\n" in inside}
    if texts:
        name = max(texts, key=lambda each: len(texts[each]))
        return lines_at(value, (name,))
    return Items((), value)
