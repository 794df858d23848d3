"""The parts of a JSON Schema: which keywords hold schemas, and how to go through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = dict[str, Any]
"""A JSON Schema of draft 2020-12 as an object; the schemas that are true or false are `{}` and `NOTHING`."""
NOTHING: Schema = {"not": {}}
"""Fits no value."""

ANNOTATIONS = ("title", "description", "default", "examples", "format")
"""Keywords that tell and forbid nothing; `format` is one of them since 2019-09."""
ONE = ("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
       "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
"""Keywords that hold a schema."""
SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Keywords that hold a list of schemas."""
NAMED = ("properties", "patternProperties", "dependentSchemas")
"""Keywords that hold schemas by name."""
IN_PLACE = ("not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas")
"""Keywords whose schemas speak about the same value."""
HOLDING = frozenset((*ONE, *SEVERAL, *NAMED))

CONCERNS: Mapping[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems",
                     "uniqueItems", "unevaluatedItems"), "array"),
    **dict.fromkeys(("properties", "required", "additionalProperties", "patternProperties", "propertyNames",
                     "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
                     "unevaluatedProperties"), "object"),
}  # fmt: skip
"""Keyword → the type of the values it speaks about; of others it says nothing."""


def children(schema: Schema, *, in_place: bool = False) -> Iterator[Schema]:
    """Yield the schemas directly inside, with `in_place` those about the same value alone."""
    for keyword, held in schema.items():
        if keyword not in HOLDING or (in_place and keyword not in IN_PLACE):
            continue
        if keyword in ONE:
            yield held
        else:
            yield from held.values() if isinstance(held, dict) else held


def mapped(schema: Schema, change: Callable[[str, Schema], Schema]) -> Schema:
    """Return the schema with each one directly inside replaced by what `change` makes of keyword and schema."""
    if HOLDING.isdisjoint(schema):
        return schema
    out: Schema = {}
    for keyword, held in schema.items():
        if keyword not in HOLDING:
            out[keyword] = held
        elif keyword in ONE:
            out[keyword] = change(keyword, held)
        elif isinstance(held, dict):
            out[keyword] = {name: change(keyword, each) for name, each in held.items()}
        else:
            out[keyword] = [change(keyword, each) for each in held]
    return out


def types_of(schema: Schema) -> list[str] | None:
    """Return the types that `type` names, None where it names none."""
    told = schema.get("type")
    return [told] if isinstance(told, str) else told


def is_of(value: Any, kind: str) -> bool:
    """Whether a JSON value is of a type of JSON Schema."""
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            return whole and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)


def kind_of(value: Any) -> str:
    """Return the narrowest type of a JSON value."""
    return next(
        kind for kind in ("null", "boolean", "integer", "number", "string", "array", "object") if is_of(value, kind)
    )
