"""Where the values of a call came from, so that every number can be followed to its query and its data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from contracts import Json
from runtime.bindings import BindingFault, Reference, is_file, references
from runtime.canonical import sha256
from runtime.capabilities.port import Origin
from runtime.engine.result import Result
from runtime.engine.scope import Scope
from runtime.engine.view import OrderView
from runtime.errors import InvalidArguments


class Origins(Mapping[str, Origin]):
    """Dotted argument path → origin, for every argument that a binding fills; found when somebody first looks.

    `with: {a: {b: "{{ x.y }}"}}` gives the key `a.b`, items of a list are numbered from 0. Looking raises
    InvalidArguments for a binding that is no path.
    """

    __slots__ = ("_arguments", "_employee", "_found", "_scope", "_view")

    def __init__(self, arguments: Mapping[str, Json], scope: Scope, view: OrderView, employee: str) -> None:
        self._arguments = arguments
        self._scope = scope
        self._view = view
        self._employee = employee
        self._found: dict[str, Origin] | None = None

    def __getitem__(self, path: str) -> Origin:
        return self._all[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def data_sha256(self) -> str | None:
        """Return the hash over the data of the steps that the arguments rest on; None where they rest on none."""
        return data_hash_of(self.values()) if self._reads_steps() else None

    @property
    def _all(self) -> dict[str, Origin]:
        if self._found is None:
            self._found = {}
            for path, value in _leaves(self._arguments, ""):
                traced = [
                    _trace(reference, self._scope, self._view, self._employee) for reference in _references(value)
                ]
                if traced:
                    self._found[path] = traced[0] if len(traced) == 1 else _joined(traced)
        return self._found

    def _reads_steps(self) -> bool:
        view, scope = self._view, self._scope
        for _, value in _leaves(self._arguments, ""):
            for reference in _references(value):
                root = reference.root
                if root == "item" and scope.items is not None:
                    root = scope.items.root
                if any(key in view.units or key in view.settled for key in ((root, None), (root, scope.index))):
                    return True
        return False


def data_hash(hashes: Iterable[str | None]) -> str | None:
    """Return the hash that stands for everything a computed result rests on, or None when it rests on nothing."""
    known = sorted({digest for digest in hashes if digest})
    return sha256(list(known)) if known else None


def data_hash_of(origins: Iterable[Origin]) -> str | None:
    """Return the hash over the data of these origins; what has no data hash counts by the hash of its result."""
    return data_hash(origin.data_sha256 or origin.result_sha256 for origin in origins)


@lru_cache(4_096)
def _references(value: str) -> tuple[Reference, ...]:
    """Return what a text reads; a step that is repeated asks each time."""
    try:
        return tuple(references(value))
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
        before = view.known((root, scope.index - 1))
        result = before.result if before else None
    if result is None:
        value = scope.values.get(reference.root)
        return Origin(step="input", path=reference.text.strip(), result_sha256=sha256(value))
    return Origin(f"{employee}/{step}", path, result.result_sha256, result.query_sha256, result.rests_on)


def _source(view: OrderView, root: str, keys: tuple[str | int, ...]) -> tuple[str, Result | None]:
    """Return the step and result a path leads to: into the one branch or repetition where it names one."""
    unit = view.known((root, None))
    if unit is None or unit.result is None:
        return root, None
    members = unit.result.members
    if members and keys:
        first = keys[0]
        inner = (root, first) if isinstance(first, int) else (first, None)
        part = view.known(inner)
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
