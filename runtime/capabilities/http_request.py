"""The request that a call of a service becomes: its path, query, headers and body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from contracts import Json
from runtime.canonical import to_bytes
from runtime.capabilities.connections import Operation
from runtime.capabilities.openapi.operation import Carried, DocumentedOperation
from runtime.errors import InvalidArguments

_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request to a service."""

    call: str
    """Name of the capability, for messages."""
    method: str
    path: str
    key: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None


def outgoing(call: str, operation: Operation, arguments: Mapping[str, Json], key: str) -> Outgoing:
    """Return the request for a call with these arguments; raise InvalidArguments when it cannot be made of them."""
    if isinstance(operation, DocumentedOperation):
        return _documented(call, operation, arguments, key)
    path, rest = fill(operation.path, arguments)
    if operation.method in ("GET", "DELETE"):
        query = tuple((name, text_of(value)) for name, value in rest.items())
        return Outgoing(call, operation.method, path, key, query=query)
    return Outgoing(call, operation.method, path, key, body=rest)


def fill(path: str, arguments: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
    """Return the path with its places filled, each value quoted whole, and the arguments that are left."""
    names = _PLACE.findall(path)
    missing = [name for name in names if arguments.get(name) in (None, "", ".", "..")]
    if missing:
        raise InvalidArguments(f"The path {path} needs a value for {missing[0]}.", missing=missing[0], happened="no")
    filled = _PLACE.sub(lambda place: quote(text_of(arguments[place[1]]), safe=""), path)
    return filled, {name: value for name, value in arguments.items() if name not in names}


def text_of(value: Json) -> str:
    """Return a value as it stands in an address or header: a text itself, anything else as JSON."""
    if isinstance(value, str):
        return value
    return to_bytes(value).decode()


def _documented(call: str, operation: DocumentedOperation, arguments: Mapping[str, Json], key: str) -> Outgoing:
    given = {name: value for name, value in arguments.items() if not _is_left_out(operation, name, value)}
    sent = [(operation.carried[name], value) for name, value in given.items()]
    path, _ = fill(operation.path, {carried.name: value for carried, value in sent if carried.where == "path"})
    return Outgoing(
        call, operation.method, path, key,
        query=tuple(pair for carried, value in sent if carried.where == "query" for pair in _pairs(carried, value)),
        headers={c.name: _header(call, c.name, value) for c, value in sent if c.where == "header"},
        body=_body(operation, sent),
    )  # fmt: skip


def _is_left_out(operation: DocumentedOperation, name: str, value: Json) -> bool:
    """Whether an argument stands for nothing: services take a field that is absent, and many refuse a null."""
    parameter = operation.parameters.get(name)
    return value is None and parameter is not None and not parameter.required


def _pairs(carried: Carried, value: Json) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield carried.name, text_of(value)
    elif carried.joined:
        yield carried.name, ",".join(map(text_of, value))
    else:
        yield from ((carried.name, text_of(item)) for item in value)


def _body(operation: DocumentedOperation, sent: list[tuple[Carried, Json]]) -> Json:
    for carried, value in sent:
        if carried.where == "whole body":
            return value
    fields = {carried.name: value for carried, value in sent if carried.where == "body"}
    return fields if fields or operation.has_body else None


def _header(call: str, name: str, value: Json) -> str:
    text = text_of(value)
    if not (text.isascii() and text.isprintable()):
        raise InvalidArguments(f"{call}: the header {name} takes plain text on one line.", use=call, happened="no")
    return text
