"""Where the values of a call came from, so that every number can be followed to its query and its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contracts import Json
from runtime.bindings import BindingFault, Reference, is_file, references
from runtime.canonical import sha256
from runtime.capabilities.port import Origin
from runtime.engine.result import Result
from runtime.engine.scope import Scope
from runtime.engine.view import OrderView
from runtime.errors import InvalidArguments


def origins_of(arguments: Mapping[str, Json], scope: Scope, view: OrderView, employee: str) -> dict[str, Origin]:
    """Return dotted argument path → origin, for every argument that a binding fills.

    `with: {a: {b: "{{ x.y }}"}}` gives the key `a.b`, items of a list are numbered from 0. Raises InvalidArguments
    for a binding that is no path.
    """
    found: dict[str, Origin] = {}
    for path, value in _leaves(arguments, ""):
        traced = [_trace(reference, scope, view, employee) for reference in _references(value)]
        if traced:
            found[path] = traced[0] if len(traced) == 1 else _joined(traced)
    return found


def data_hash(hashes: Iterable[str | None]) -> str | None:
    """Return the hash that stands for everything a computed result rests on, or None when it rests on nothing."""
    known = sorted({digest for digest in hashes if digest})
    return sha256(list(known)) if known else None


def data_hash_of(origins: Iterable[Origin]) -> str | None:
    """Return the hash over the data of these origins; what has no data hash counts by the hash of its result."""
    return data_hash(origin.data_sha256 or origin.result_sha256 for origin in origins)


def _references(value: str) -> list[Reference]:
    try:
        return references(value)
    except BindingFault as fault:
        raise InvalidArguments(str(fault), binding=value) from fault


def _leaves(value: Json | Mapping[str, Json], path: str) -> Iterable[tuple[str, str]]:
    match value:
        case str() if "{{" in value:
            yield path, value
        case Mapping() if not is_file(value):
            for key, item in value.items():
                yield from _leaves(item, f"{path}.{key}" if path else key)
        case list():
            for number, item in enumerate(value):
                yield from _leaves(item, f"{path}.{number}")


def _trace(reference: Reference, scope: Scope, view: OrderView, employee: str) -> Origin:
    path = reference.text.strip().removeprefix(reference.root).lstrip(".")
    root, keys = reference.root, reference.path
    if root == "item" and scope.items is not None:
        source = scope.items.text.strip().removeprefix(scope.items.root).lstrip(".")
        path = f"{source}[{scope.index}]" + (f".{path}" if path and not path.startswith("[") else path)
        root, keys = scope.items.root, (*scope.items.path, scope.index or 0, *reference.path)
    step, result = _source(view, root, keys)
    if result is None and scope.index:  # a step that is repeated until a check holds reads what it gave the time before
        before = view.units.get((root, scope.index - 1))
        result = before.result if before else None
    if result is None:
        value = scope.values.get(reference.root)
        return Origin(step="input", path=reference.text.strip(), result_sha256=sha256(value))
    return Origin(f"{employee}/{step}", path, result.result_sha256, result.query_sha256, result.data_sha256)


def _source(view: OrderView, root: str, keys: tuple[str | int, ...]) -> tuple[str, Result | None]:
    """Return the step and result a path leads to: into the one branch or repetition where it names one."""
    unit = view.units.get((root, None))
    if unit is None or unit.result is None:
        return root, None
    members = unit.result.members
    if members and keys:
        first = keys[0]
        inner = (root, first) if isinstance(first, int) else (first, None)
        part = view.units.get(inner)
        if str(first) in members and part is not None and part.result is not None:
            return part.step, part.result
    return root, unit.result


def _joined(traced: list[Origin]) -> Origin:
    """Return the origin of a text that several values went into."""
    queries = {origin.query_sha256 for origin in traced}
    return Origin(
        step=", ".join(dict.fromkeys(origin.step for origin in traced)),
        path=", ".join(origin.path for origin in traced),
        result_sha256=data_hash(origin.result_sha256 for origin in traced) or "",
        query_sha256=queries.pop() if len(queries) == 1 else None,
        data_sha256=data_hash_of(traced),
    )
