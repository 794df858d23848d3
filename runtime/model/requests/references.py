"""References inside a schema: what they point at, and each put in its place where that ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote

from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.parts import Schema, children, mapped

_MOST_PARTS = 2_000
"""Schemas that putting references in their places may lead to; with more they stay references."""
_DEEPEST = 30
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


class Pointers:
    """What references of one document point at."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self._names: dict[str, str] = {}
        self._called: dict[str, Any] | None = None

    def find(self, reference: Any, where: str) -> tuple[str, Any, bool]:
        """Return a name for the target, the target, and whether it was asked for before.

        Raises:
            UnusableSchema: there is nothing, or it is in another document, which is never fetched.
        """
        place, target = self._place(str(reference))
        if place is None or not isinstance(target, dict | bool | str):
            raise UnusableSchema(
                f"{where} refers to {str(reference)[:100]!r}, which is not in the schema. Put the definition under "
                "`$defs`, and refer to it as `#/$defs/NAME`."
            )
        met = place in self._names
        if not met:
            last = _FOREIGN.sub("_", place.rpartition("/")[2])[:40] or "whole"
            taken, name, number = set(self._names.values()), last, 2
            while name in taken:
                name, number = f"{last}_{number}", number + 1
            self._names[place] = name
        return self._names[place], target, met

    def _place(self, reference: str) -> tuple[str | None, Any]:
        """Return where the target is, the same text for the same target, and the target."""
        base, _, fragment = reference.partition("#")
        if base and base != str(isinstance(self._whole, dict) and self._whole.get("$id", "")):
            called = self._by_name().get(reference, self._by_name().get(base))
            return (base, called) if called is not None and not fragment else (None, None)
        if not fragment:
            return "", self._whole
        if not fragment.startswith("/"):
            return f"#{fragment}", self._by_name().get(f"#{fragment}")
        target = self._whole
        for part in unquote(fragment)[1:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and key in target:
                target = target[key]
            elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
                target = target[int(key)]
            else:
                return None, None
        return unquote(fragment), target

    def _by_name(self) -> Mapping[str, Any]:
        """Return `$id`, `#anchor` or the bare name of a definition → its schema; made when first needed."""
        if self._called is None:
            called: dict[str, Any] = {}
            for part in _all_in(self._whole):
                for group in ("definitions", "$defs"):
                    if isinstance(part.get(group), dict):
                        called.update(part[group])
            for part in _all_in(self._whole):
                for keyword, mark in (("$id", ""), ("id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
                    if isinstance(part.get(keyword), str):
                        called[mark + part[keyword]] = part
            self._called = called
        return self._called


def in_place(root: Schema, defs: Mapping[str, Schema]) -> tuple[Schema, dict[str, Schema]]:
    """Return the root with each reference replaced by what it means, and the definitions that refer to themselves.

    Raises:
        UnusableSchema: a definition means itself and nothing else.
    """
    for name in sorted(_in_rings({name: set(_named_in(each, in_place=True)) for name, each in defs.items()})):
        raise UnusableSchema(f"The definition `{name}` refers to itself without anything in between. Mend it.")
    recursive = _in_rings({name: set(_named_in(each)) for name, each in defs.items()})
    needed = reached(defs, root)
    if not needed - recursive:
        return root, {name: dict(defs[name]) for name in defs if name in needed}
    sizes: dict[str, tuple[int, int]] = {}
    parts, deep = _size(root, defs, recursive, sizes)
    if parts > _MOST_PARTS or deep > _DEEPEST:
        return root, {name: dict(defs[name]) for name in defs if name in needed}
    known: dict[str, Schema] = {}
    filled = _filled(root, defs, recursive, known)
    kept = {name: _filled(defs[name], defs, recursive, known) for name in defs if name in needed & recursive}
    return filled, kept


def named_by(schema: Schema) -> str | None:
    """Return the name of the definition that a schema refers to."""
    reference = schema.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else None


def _filled(schema: Schema, defs: Mapping[str, Schema], recursive: set[str], known: dict[str, Schema]) -> Schema:
    name = named_by(schema)
    if name is None:
        return mapped(schema, lambda _, inner: _filled(inner, defs, recursive, known))
    if name in recursive:
        return schema
    if name not in known:
        known[name] = _filled(defs[name], defs, recursive, known)
    return {**known[name], **{keyword: held for keyword, held in schema.items() if keyword != "$ref"}}


def _size(
    schema: Schema, defs: Mapping[str, Schema], recursive: set[str], known: dict[str, tuple[int, int]]
) -> tuple[int, int]:
    """Return how many schemas there would be, and how deep."""
    name = named_by(schema)
    if name is not None:
        if name in recursive:
            return 1, 1
        if name not in known:
            known[name] = _size(defs[name], defs, recursive, known)
        return known[name]
    inner = [_size(each, defs, recursive, known) for each in children(schema)]
    return 1 + sum(parts for parts, _ in inner), 1 + max((deep for _, deep in inner), default=0)


def reached(defs: Mapping[str, Schema], root: Schema) -> set[str]:
    """Return the definitions that the root leads to."""
    found: set[str] = set()
    left = list(_named_in(root))
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(_named_in(defs[name]))
    return found


def _in_rings(edges: Mapping[str, set[str]]) -> set[str]:
    """Return the names that lead to themselves, and what lies between two such rings."""
    back: dict[str, set[str]] = {name: set() for name in edges}
    for name, others in edges.items():
        for other in others:
            back[other].add(name)
    left = set(edges)
    for graph in (edges, back):
        sorter = TopologicalSorter({name: graph[name] & left for name in left})
        with suppress(CycleError):
            sorter.prepare()
        while ready := sorter.get_ready():
            left.difference_update(ready)
            sorter.done(*ready)
    return left


def _named_in(schema: Schema, *, in_place: bool = False) -> Iterator[str]:
    name = named_by(schema)
    if name is not None:
        yield name
    for inner in children(schema, in_place=in_place):
        yield from _named_in(inner, in_place=in_place)


def _all_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _all_in(inner)
