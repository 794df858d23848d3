"""Values that a schema allows: what an endpoint that holds its model to a schema can answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

Schema = Mapping[str, Any]
_EMPTY: Mapping[str, Any] = {
    "integer": 1, "number": 1.5, "boolean": True, "null": None, "array": [], "string": "x",
}  # fmt: skip


def valid(text: str, schema: Schema) -> bool:
    """Tell whether a text is JSON that the schema allows."""
    try:
        jsonschema.validate(json.loads(text), schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def instance_of(schema: Schema, *, words: str | None = None, root: Schema | None = None) -> Any:
    """Return a small value that the schema allows; strings without a rule of their own are `words`."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    branches = _branches(schema)
    if branches:
        told = [instance_of(branch, words=words, root=root) for branch in branches]
        return told[0] if words is None else max(told, key=lambda value: words in json.dumps(value, ensure_ascii=False))
    kind = _type_of(schema)
    if kind == "object":
        wanted = schema.get("required", list(schema.get("properties", {})))
        return {name: instance_of(schema["properties"][name], words=words, root=root) for name in wanted}
    if kind == "array":
        item = schema.get("items", {})
        return [instance_of(item, words=words, root=root) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", _EMPTY[kind])
    return words if kind == "string" and words is not None else _EMPTY[kind]


def said_in(schema: Schema, name: str, arguments: Mapping[str, Any], *, root: Schema | None = None) -> Any:
    """Return the object by which a schema says "this tool with these arguments"; None where it cannot say it.

    Such an object has a property that can only be the tool's name, and beside it one that is an object.
    """
    root = schema if root is None else root
    schema = _resolved(schema, root)
    for branch in _branches(schema):
        if (found := said_in(branch, name, arguments, root=root)) is not None:
            return found
    told: dict[str, Any] = {}
    named = False
    for key, each in schema.get("properties", {}).items():
        allowed = _resolved(each, root)
        if name in (allowed.get("const"), *allowed.get("enum", ())):
            told[key], named = name, True
        elif (inner := said_in(allowed, name, arguments, root=root)) is not None:
            told[key], named = inner, True
        elif _type_of(allowed) == "object":
            told[key] = dict(arguments)
        elif _type_of(allowed) == "array" and (item := said_in(allowed.get("items", {}), name, arguments, root=root)):
            told[key], named = [item], True
        else:
            told[key] = instance_of(allowed, root=root)
    return told if named else None


def _branches(schema: Schema) -> list[Schema]:
    return list(schema.get("anyOf") or schema.get("oneOf") or [])


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = root
        for part in _steps(schema["$ref"]):
            found = found[part]
        schema = found
    return schema


def _steps(reference: str) -> Iterator[str]:
    return (part.replace("~1", "/").replace("~0", "~") for part in reference.removeprefix("#").split("/") if part)


def _type_of(schema: Schema) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return kind if isinstance(kind, str) else next(each for each in kind if each != "null")
