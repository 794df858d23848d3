"""Operations made whole from the document that tells them; everything that keeps one from it, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from contracts import Json
from runtime.capabilities.connections import DescribedOperation, HttpConnection, OpenApiConnection, Operation
from runtime.capabilities.openapi.arguments import Arguments, media_type_in
from runtime.capabilities.openapi.document import Document, DocumentFault, Found, Place
from runtime.capabilities.openapi.operation import DocumentedOperation
from runtime.capabilities.openapi.schemas import Schemas, kinds_in

_LONGEST_TEXT = 1_000


@dataclass(slots=True)
class Completed:
    """A connection with the operations that could be made, and why others could not."""

    operations: dict[str, Operation] = field(default_factory=dict)
    in_document: list[DocumentFault] = field(default_factory=list)
    """Faults whose places are in the document."""
    in_entry: list[DocumentFault] = field(default_factory=list)
    """Faults whose places are inside the connection's declaration."""


def completed(connection: OpenApiConnection, value: Any) -> Completed:
    """Return the operations that the connection names, made from the document with this content."""
    document, made = Document(value), Completed()
    try:
        known = document.operations()
    except DocumentFault as fault:
        made.in_document.append(fault)
        return made
    for name, entry in connection.operations.items():
        place: Place = ("operations", name)
        found = _one(known, entry.operation or name, connection.openapi, place, made)
        if found is None:
            continue
        if entry.effect is None and found.method != "GET":
            what = f"An operation with {found.method} needs `effect`: read, idempotent, write or irreversible."
            made.in_entry.append(DocumentFault(place, what, "What a document says of that counts nothing."))
        operation = _made(document, found, entry, connection, made)
        if operation is not None:
            made.operations[name] = operation
    return made


def connection_of(connection: OpenApiConnection, operations: Mapping[str, Operation]) -> HttpConnection:
    """Return the connection with these operations, like one that declares them itself."""
    told = {name: getattr(connection, name) for name in HttpConnection.model_fields if name != "operations"}
    return HttpConnection(**told, operations=dict(operations))


def _one(known: Mapping[str, list[Found]], wanted: str, file: str, place: Place, made: Completed) -> Found | None:
    found = known.get(wanted, [])
    if len(found) > 1:
        what = f"The operationId `{wanted}` stands here more than once."
        made.in_document.append(DocumentFault((*found[1].place, "operationId"), what, "Each must be the only one."))
    if not found:
        near = {name.lower().replace("_", ""): name for name in known}
        close = get_close_matches(wanted.lower().replace("_", ""), near, n=1)
        hint = f"Did you mean `{near[close[0]]}`? Name it with `operation`." if close else ""
        made.in_entry.append(DocumentFault(place, f"There is no operation `{wanted}` in {file}.", hint))
    return found[0] if len(found) == 1 else None


def _made(
    document: Document, found: Found, entry: DescribedOperation, connection: OpenApiConnection, made: Completed
) -> DocumentedOperation | None:
    arguments = Arguments(document, found, connection.headers)
    faults = list(arguments.faults)
    gives = entry.gives or {}
    if entry.gives is None:
        try:
            gives = _gives(document, found)
        except DocumentFault as fault:
            faults.append(fault)
    made.in_document += faults
    if faults or (entry.effect is None and found.method != "GET"):
        return None
    told = found.told.get("description") or found.told.get("summary")
    own = {name: getattr(entry, name) for name in ("effect", "policy", "plausible", "every_call", "price", "lookup")}
    return DocumentedOperation(
        method=found.method, path=found.path, parameters=arguments.parameters, gives=gives, **own,
        description=" ".join(told.split())[:_LONGEST_TEXT] if isinstance(told, str) else "",
        carried=arguments.carried, has_body=arguments.has_body, takes_key=arguments.takes_key,
        takes=arguments.schema, sha256=document.sha256_of(found),
    )  # fmt: skip


def _gives(document: Document, found: Found) -> dict[str, Json]:
    """Return the fields that every good answer has; one without content leaves the output open."""
    answers = [_fields(document, node, place) for node, place in _good_answers(document, found)]
    if not answers:
        return {}
    first, *others = answers
    return {
        name: declared if all(other[name] == declared for other in others) else "any"
        for name, declared in first.items()
        if all(name in other for other in others)
    }


def _good_answers(document: Document, found: Found) -> Iterator[tuple[Any, Place]]:
    responses = found.told.get("responses")
    for status, node in responses.items() if isinstance(responses, Mapping) else ():
        if str(status).startswith("2"):
            yield document.resolve(node, (*found.place, "responses", status))


def _fields(document: Document, answer: Any, place: Place) -> dict[str, Json]:
    content = answer.get("content") if isinstance(answer, Mapping) else None
    if not isinstance(content, Mapping) or not content:
        return {}
    media = media_type_in(content)
    if media is None:
        raise DocumentFault(
            (*place, "content"), f"The answer is {', '.join(content)}, and only JSON can be read.",
            "Say with `gives: {}` in connections.yaml that it is JSON all the same, or leave the operation out.",
        )  # fmt: skip
    told = content[media].get("schema") if isinstance(content[media], Mapping) else None
    schema = Schemas(document, sent=False).of(told, (*place, "content", media, "schema"))
    if kinds_in(schema) == ["array"]:
        return {"items": {**schema, "type": "array"}}
    fields = schema.get("properties", {})
    return {name: _declared(fields[name]) for name in schema.get("required", ()) if name in fields}


def _declared(schema: dict[str, Any]) -> Json:
    """Return the type's name where the schema says no more; null fits that as it fits the schema."""
    kinds = kinds_in(schema)
    return kinds[0] if len(kinds) == 1 and schema.keys() == {"type"} else schema or "any"
