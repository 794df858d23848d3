"""Addresses in data: `$.rows[3].price` in JSON, `L12` or `L12:400` in lines, `$.body L12` in a text inside JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from contracts import Json
from runtime.context.bounds import shortened
from runtime.context.errors import AnchorUnknown

Path = tuple[str | int, ...]

_LONGEST = 2_000
_NAME = re.compile(r"[^\W\d]\w*")
_STEP = re.compile(rf"\.({_NAME.pattern})|\[(0|[1-9]\d{{0,14}})\]|\[(\"(?:[^\"\\]|\\.)*\")\]|\['([^'\\]*)'\]")
_LINE = re.compile(r"(?P<path>\$.*?)?\s*\bL(?P<line>[1-9]\d{0,14})(?::(?P<column>[1-9]\d{0,14}))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: a path into JSON, a line of a text, or both for a line of a text in JSON."""

    path: Path | None
    line: int | None = None
    """From 1."""
    column: int | None = None
    """Character of the line, from 1."""


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as `read_anchor` reads it."""
    return "$" + "".join(map(_step_text, path))


def general(path: Sequence[str | int]) -> str:
    """Return a path with `[*]` for each position: one text for the same field of every item."""
    return "$" + "".join("[*]" if isinstance(step, int) else _step_text(step) for step in path)


def line_text(path: Sequence[str | int] | None, line: int, column: int | None = None) -> str:
    """Return the address of a line, with the path of its text where that lies in JSON."""
    place = f"L{line}" if column is None else f"L{line}:{column}"
    return place if path is None else f"{path_text(path)} {place}"


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def read_anchor(text: str) -> Anchor | None:
    """Return the place that a text addresses; None where it is no address."""
    said = text.strip()
    if len(said) > _LONGEST:
        return None
    found = _LINE.fullmatch(said)
    if found is None:
        path = read_path(said)
        return None if path is None else Anchor(path)
    path = None if found["path"] is None else read_path(found["path"].strip())
    if found["path"] is not None and path is None:
        return None
    return Anchor(path, int(found["line"]), int(found["column"]) if found["column"] else None)


def read_path(text: str) -> Path | None:
    """Return a path of names and positions; None for any other text."""
    if not text.startswith("$"):
        return None
    path: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        name, position, quoted, single = step.groups()
        try:
            path.append(int(position) if position else json.loads(quoted, strict=False) if quoted else name or single)
        except ValueError:  # an escape that JSON does not have
            return None
        at = step.end()
    return tuple(path)


def value_at(value: Json, path: Path) -> Json:
    """Return what stands at a path.

    Raises:
        AnchorUnknown: there is no such place; it names the last place on the way that there is.
    """
    here = value
    for number, step in enumerate(path):
        inside = _inside(here, step)
        if inside is _NOTHING:
            raise _nothing_at(path, number, here)
        here = cast(Json, inside)
    return here


_NOTHING = object()


def _inside(value: Json, step: str | int) -> object:
    if isinstance(value, dict):
        return value.get(step, _NOTHING) if isinstance(step, str) else _NOTHING
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return _NOTHING


def _nothing_at(path: Path, number: int, here: Json) -> AnchorUnknown:
    match here:
        case dict():
            there = f"an object with the fields {shortened(', '.join(list(here)[:20]), 300) or '(none)'}"
        case list():
            there = f"an array of {len(here):,} items, from [0]"
        case _:
            there = "a single value"
    return AnchorUnknown(
        f"There is no {shortened(path_text(path), 200)}. {shortened(path_text(path[:number]), 200)} is {there}. "
        "Use an address as outline or search gave it.",
        happened="no",
    )
