"""An OpenAPI 3.x document: its operations, what its references point at, and the hash of one operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

from runtime.canonical import clean, sha256

Place: TypeAlias = tuple[str | int, ...]
"""Where something stands: the keys that lead to it."""

_METHODS = ("get", "put", "post", "delete", "patch")


class DocumentFault(ValueError):
    """Something about a document that keeps an operation from being used."""

    def __init__(self, place: Place, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.place = place
        """In the document."""
        self.what = what
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Found:
    """One operation as it stands in the document."""

    method: str
    """Upper case."""
    path: str
    place: Place
    told: Mapping[str, Any]
    shared: tuple[Any, ...]
    """Parameters that stand at the path, for all of its operations."""


class Document:
    """A document that was read. Only what is asked for is looked at, so that faults elsewhere do not matter."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def operations(self) -> dict[str, list[Found]]:
        """Return the operations that have an `operationId`, by it; more than one under an id is the document's fault.

        Raises:
            DocumentFault: it is no OpenAPI 3.x document.
        """
        version = self._value.get("openapi") if isinstance(self._value, Mapping) else None
        if not str(version).startswith("3."):
            told = f"`openapi` is {version!r}" if version is not None else "it has no `openapi`"
            raise DocumentFault(
                ("openapi",), f"This is no OpenAPI 3.x document: {told}.", "Documents of Swagger 2.0 can be converted."
            )
        found: dict[str, list[Found]] = {}
        for operation in self._all():
            name = operation.told.get("operationId")
            if isinstance(name, str):
                found.setdefault(name, []).append(operation)
        return found

    def resolve(self, node: Any, place: Place) -> tuple[Any, Place]:
        """Return what a node stands for, and where: itself, or what its `$ref` points at in this document."""
        seen: set[str] = set()
        while isinstance(node, Mapping) and isinstance(node.get("$ref"), str):
            ref = node["$ref"]
            if ref in seen:
                raise DocumentFault(place, f"`{ref}` points at itself.")
            seen.add(ref)
            node, place = self._target(ref, place)
        return node, place

    def sha256_of(self, operation: Found) -> str:
        """Return the hash of the operation with all that it refers to, descriptions included."""
        components: dict[str, Any] = {}
        waiting: list[Any] = [operation.told, *operation.shared]
        while waiting:
            node = waiting.pop()
            if isinstance(node, list):
                waiting += node
            elif isinstance(node, Mapping):
                waiting += node.values()
                ref = node.get("$ref")
                if isinstance(ref, str) and ref not in components:
                    components[ref] = self._if_there(ref)
                    waiting.append(components[ref])
        whole = {
            "method": operation.method, "path": operation.path, "operation": operation.told,
            "shared": list(operation.shared), "components": components,
        }  # fmt: skip
        return sha256(clean(whole))

    def _all(self) -> Iterator[Found]:
        paths = self._value.get("paths")
        for path, item in paths.items() if isinstance(paths, Mapping) else ():
            there, place = self._path_item(item, ("paths", path))
            shared = there.get("parameters")
            for method in _METHODS:
                if isinstance(there.get(method), Mapping):
                    listed = tuple(shared) if isinstance(shared, list) else ()
                    yield Found(method.upper(), path, (*place, method), there[method], listed)

    def _path_item(self, item: Any, place: Place) -> tuple[Mapping[str, Any], Place]:
        try:
            there, place = self.resolve(item, place)
        except DocumentFault:  # an item elsewhere has no operations here; who asks for one of them is told so
            return {}, place
        return (there if isinstance(there, Mapping) else {}), place

    def _if_there(self, ref: str) -> Any:
        try:
            return self._target(ref, ())[0]
        except DocumentFault:
            return None

    def _target(self, ref: str, place: Place) -> tuple[Any, Place]:
        if not ref.startswith("#/"):
            raise DocumentFault(
                place, f"`{ref}` points outside of this document, which is not followed.", "Bundle it into one file."
            )
        node: Any = self._value
        there: list[str | int] = []
        for part in ref[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
                there.append(key)
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
                there.append(int(key))
            else:
                raise DocumentFault(place, f"`{ref}` is not in the document.")
        return node, tuple(there)
