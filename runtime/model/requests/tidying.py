"""A mended schema in the plainest words: `allOf` written as one, what nothing fits taken out, the type said.

What fits is the same afterwards. The one exception, the type that keywords speak about, is said only where fewer
values fit for it, never under `not`, `if` or `oneOf`, where that would let more through.
"""

from __future__ import annotations

from typing import Any

from runtime.model.requests.joining import Apart, Impossible, joined, text_of
from runtime.model.requests.parts import (
    ANNOTATIONS,
    CONCERNS,
    HOLDING,
    NOTHING,
    Schema,
    is_of,
    kind_of,
    mapped,
    types_of,
)

_TURNING = ("not", "if", "oneOf", "contains")
_SAYING = frozenset({"type", "const", "enum", "allOf", "anyOf", "oneOf", "not", "if", "$ref"})
_WORKED = frozenset({"const", "enum", "required", "not", *HOLDING})


def tidy(schema: Schema, *, exact: bool = False) -> Schema:
    """Return the schema in plainer words; `exact` where fewer values must not fit."""
    if _WORKED.isdisjoint(schema):  # most are as plain as can be: a type and words
        return schema if exact else _typed(schema)
    out = mapped(schema, lambda keyword, inner: tidy(inner, exact=exact or keyword in _TURNING))
    try:
        out = _alone(_all(out))
        out = _any(out)
        out = _values(out)
        out = _properties(out)
    except Impossible:
        return dict(NOTHING)
    if is_nothing(out):
        return dict(NOTHING)
    return out if exact else _typed(out)


def is_nothing(schema: Schema) -> bool:
    """Whether it says that nothing fits."""
    return schema.get("not") == {}


def _all(schema: Schema) -> Schema:
    if "allOf" not in schema:
        return schema
    if any(is_nothing(each) for each in schema["allOf"]):
        raise Impossible
    out, left = {keyword: held for keyword, held in schema.items() if keyword != "allOf"}, []
    for each in schema["allOf"]:
        try:
            out = joined(out, each)
        except Apart:
            left.append(each)
    return {**out, "allOf": [*out.get("allOf", ()), *left]} if left else out


def _alone(schema: Schema) -> Schema:
    """Write one alternative without saying that it is one of several."""
    for keyword in ("anyOf", "oneOf"):
        if len(schema.get(keyword, ())) == 1:
            rest = {key: held for key, held in schema.items() if key != keyword}
            try:
                schema = joined(rest, schema[keyword][0])
            except Apart:
                continue
    return schema


def _any(schema: Schema) -> Schema:
    for keyword in ("anyOf", "oneOf"):
        if keyword not in schema:
            continue
        kept = [each for each in schema[keyword] if not is_nothing(each)]
        if not kept:
            raise Impossible
        if keyword == "anyOf":
            if any(each.keys() <= set(ANNOTATIONS) for each in kept):
                return {key: held for key, held in schema.items() if key != "anyOf"}
            kept = list({text_of(each): each for each in kept}.values())
        if len(kept) < len(schema[keyword]):
            schema = _alone({**schema, keyword: kept})
    return schema


def _values(schema: Schema) -> Schema:
    """Leave of `enum` and `const` what can be, once each, and say their types."""
    if "enum" not in schema and "const" not in schema:
        return schema
    kinds = types_of(schema)
    values = schema["enum"] if "enum" in schema else [schema["const"]]
    if "const" in schema:
        values = [value for value in values if text_of(value) == text_of(schema["const"])]
    if kinds is not None:
        values = [value for value in values if any(is_of(value, kind) for kind in kinds)]
    values = list({text_of(value): value for value in values}.values())
    if not values:
        raise Impossible
    out = {**schema, "enum": values} if "enum" in schema and "const" not in schema else dict(schema)
    if "const" in schema:
        out.pop("enum", None)
    if kinds is None:
        found = list(dict.fromkeys(map(kind_of, values)))
        if "integer" in found and "number" in found:
            found.remove("integer")
        out = {"type": found[0] if len(found) == 1 else found, **out}
    return out


def _properties(schema: Schema) -> Schema:
    """Take out properties that nothing fits, and name those that are required but not described."""
    properties: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    kinds = types_of(schema)
    only_object = kinds == ["object"]
    barred = [name for name, each in properties.items() if is_nothing(each)]
    others = schema.get("additionalProperties", {})
    if only_object and any(name in barred for name in required):
        raise Impossible
    if barred and is_nothing(others) and "patternProperties" not in schema:
        properties = {name: each for name, each in properties.items() if name not in barred}
        schema = {**schema, "properties": properties}
    missing = [name for name in required if name not in properties and name not in barred]
    if missing and "properties" in schema and "patternProperties" not in schema:
        if is_nothing(others) and only_object:
            raise Impossible
        schema = {**schema, "properties": {**properties, **dict.fromkeys(missing, others)}}
    if "required" in schema and not schema["required"]:
        schema = {keyword: held for keyword, held in schema.items() if keyword != "required"}
    return schema


def _typed(schema: Schema) -> Schema:
    """Say the type of which all keywords speak, where none is said."""
    if _SAYING & schema.keys():
        return schema
    spoken = {CONCERNS[keyword] for keyword in schema if keyword in CONCERNS}
    return {"type": spoken.pop(), **schema} if len(spoken) == 1 else schema
