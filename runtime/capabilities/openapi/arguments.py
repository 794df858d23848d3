"""The arguments of an operation: its parameters in path, query and header, and the fields of its JSON body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from contracts import Json, Parameter
from runtime.capabilities.openapi.document import Document, DocumentFault, Found, Place
from runtime.capabilities.openapi.operation import Carried, Where
from runtime.capabilities.openapi.schemas import Schemas, kinds_in, or_null, parameter_of

_LONGEST_TEXT = 1_000
_IN_PATH = re.compile(r"\{([^{}]+)\}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_OURS = frozenset({
    "accept", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "host",
    "idempotency-key", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip
"""Headers that say how a call is made and by whom: never arguments. OpenAPI itself sets the first two and
content-type apart."""


class Arguments:
    """What a call takes; `faults` hold why something of it cannot be sent."""

    def __init__(self, document: Document, found: Found, headers: Collection[str]) -> None:
        """Take it from the document; `headers` are those of the connection, which no argument can set."""
        self.parameters: dict[str, Parameter] = {}
        self.carried: dict[str, Carried] = {}
        self.has_body = False
        self.takes_key = False
        self.faults: list[DocumentFault] = []
        self._document = document
        self._found = found
        self._set = {*_OURS, *(name.lower() for name in headers)}
        self._schemas = Schemas(document, sent=True)
        self._properties: dict[str, Json] = {}
        self._read_parameters()
        try:
            self._read_body()
        except DocumentFault as fault:
            self.faults.append(fault)

    @property
    def schema(self) -> dict[str, Json]:
        """JSON Schema of the arguments."""
        required: list[Json] = [name for name, parameter in self.parameters.items() if parameter.required]
        return {
            "type": "object", "properties": self._properties, "required": required, "additionalProperties": False,
        }  # fmt: skip

    def _read_parameters(self) -> None:
        there: dict[tuple[str, str], tuple[Mapping[str, Any], Place]] = {}
        for node, place in self._listed():
            try:
                parameter, where = self._document.resolve(node, place)
            except DocumentFault as fault:
                self.faults.append(fault)
                continue
            if isinstance(parameter, Mapping) and isinstance(parameter.get("name"), str):
                there[str(parameter.get("in")), parameter["name"]] = parameter, where
            else:
                self.faults.append(DocumentFault(where, "A parameter must have a `name`."))
        self._check_path({name for kind, name in there if kind == "path"})
        for (kind, name), (parameter, place) in there.items():
            try:
                self._read_parameter(kind, name, parameter, place)
            except DocumentFault as fault:
                self.faults.append(fault)

    def _listed(self) -> Iterator[tuple[Any, Place]]:
        for number, node in enumerate(self._found.shared):
            yield node, (*self._found.place[:-1], "parameters", number)
        own = self._found.told.get("parameters")
        for number, node in enumerate(own if isinstance(own, list) else ()):
            yield node, (*self._found.place, "parameters", number)

    def _check_path(self, declared: set[str]) -> None:
        path, place = self._found.path, self._found.place
        if not path.startswith("/"):
            self.faults.append(DocumentFault(place, f"The path {path} does not begin with `/`."))
        places = set(_IN_PATH.findall(path))
        for name in sorted(places - declared):
            what = f"The path {path} has a place for `{name}`, and no parameter fills it."
            self.faults.append(DocumentFault(place, what, "Add it under `parameters` with `in: path`."))
        for name in sorted(declared - places):
            what = f"The parameter `{name}` is said to be in the path, and {path} has no place for it."
            self.faults.append(DocumentFault(place, what, f"Write it into the path as `{{{name}}}`."))

    def _read_parameter(self, kind: str, name: str, parameter: Mapping[str, Any], place: Place) -> None:
        needed = kind == "path" or parameter.get("required") is True
        if kind == "header" and name.lower() in self._set:
            self.takes_key |= name.lower() == "idempotency-key"
            return
        schema = self._schemas.of(parameter.get("schema"), (*place, "schema"))
        why = _why_not(kind, parameter, schema)
        if why is None:
            joined = parameter.get("explode", True) is False
            told = parameter.get("description")
            self._take(name, _WHERE[kind], schema, needed=needed, told=told, joined=joined)
        elif needed:
            raise DocumentFault(place, f"The parameter `{name}` is required and cannot be sent: {why}.")

    def _read_body(self) -> None:
        if "requestBody" not in self._found.told:
            return
        place: Place = (*self._found.place, "requestBody")
        body, place = self._document.resolve(self._found.told["requestBody"], place)
        told = body if isinstance(body, Mapping) else {}
        content: Mapping[str, Any] = told["content"] if isinstance(told.get("content"), Mapping) else {}
        media = media_type_in(content)
        needed = told.get("required") is True
        if media is not None and self._found.method != "GET":
            self._read_content(content[media], (*place, "content", media), needed=needed)
        elif needed:
            why = "a GET has none" if media is not None else f"it is {', '.join(content) or 'nothing'}, and not JSON"
            raise DocumentFault(place, f"The body is required and cannot be sent: {why}.")

    def _read_content(self, content: Any, place: Place, *, needed: bool) -> None:
        schema = self._schemas.of(content.get("schema") if isinstance(content, Mapping) else None, (*place, "schema"))
        self.has_body = needed
        fields = schema.get("properties")
        if not fields or schema.get("type", "object") != "object" or schema.keys() & {"anyOf", "oneOf", "allOf"}:
            self._take("body", "whole body", schema, needed=needed)
            return
        required = schema.get("required", ())
        for name, field in fields.items():
            self._take(name, "body", field, needed=needed and name in required)

    def _take(
        self, name: str, where: Where, schema: dict[str, Any], *, needed: bool, told: Any = None, joined: bool = False
    ) -> None:
        own = _NO_NAME.sub("_", name).strip("_.-")[:56] or where
        if own in self.parameters:  # the same name may be in the path and in the body
            own = f"{where.split()[-1]}_{own}"
        if own in self.parameters:
            raise DocumentFault(self._found.place, f"Two arguments would be called `{own}` here.")
        text = told if isinstance(told, str) else schema.get("description", "")
        described = " ".join(text.split())[:_LONGEST_TEXT]
        self.carried[own] = Carried(where, name, joined)
        taken = schema if needed else or_null(schema)  # null is left out when the call is made
        self._properties[own] = {**taken, **({"description": described} if described else {})}
        self.parameters[own] = parameter_of(schema, needed=needed, described=described)


_WHERE: Mapping[str, Where] = {"path": "path", "query": "query", "header": "header"}


def media_type_in(content: Iterable[str]) -> str | None:
    """Return the first of these media types that JSON is of."""
    for media in content:
        plain = media.partition(";")[0].strip().lower()
        if plain in ("application/json", "application/*", "*/*") or plain.endswith("+json"):
            return media
    return None


def _why_not(kind: str, parameter: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return why a parameter cannot be sent, None when it can."""
    if kind not in _WHERE:
        return f"it is in `{kind}`, and only path, query and header are"
    if "content" in parameter:
        return "it is written as `content` and not as `schema`"
    if parameter.get("style", _STYLE[kind]) != _STYLE[kind]:
        return f"its style `{parameter['style']}` is not `{_STYLE[kind]}`"
    kinds = kinds_in(schema)
    if "object" in kinds or (kind != "query" and "array" in kinds):
        return f"it is {'an object' if 'object' in kinds else 'a list'}"
    return None


_STYLE: Mapping[str, str] = {"path": "simple", "query": "form", "header": "simple"}
