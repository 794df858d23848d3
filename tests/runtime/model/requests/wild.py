"""Schemas as they are met, made by chance, and values that nearly fit a schema."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
KINDS = ("string", "integer", "number", "boolean", "object", "array", "null")
VALUES = (None, True, False, 0, 1, 2, 1.0, 1.5, "", "a", "xy", "2013-02-08", [], ["a"], [1], {}, {"a": 1}, {"b": None})

_names = st.sampled_from(NAMES)
_counts = st.integers(0, 3)
_LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "minimum": st.integers(-1, 2), "maximum": st.integers(0, 3), "exclusiveMinimum": st.integers(-1, 1),
    "exclusiveMaximum": st.integers(1, 3), "multipleOf": st.sampled_from([1, 0.5, 2]),
    "minLength": _counts, "maxLength": _counts, "pattern": st.sampled_from(["^a", "y$", "(?i)A", r"\d"]),
    "minItems": _counts, "maxItems": _counts, "uniqueItems": st.booleans(),
    "minProperties": _counts, "maxProperties": _counts,
    "required": st.lists(_names, max_size=3, unique=True),
    "dependentRequired": st.dictionaries(_names, st.lists(_names, max_size=2, unique=True), max_size=2),
    "enum": st.lists(st.sampled_from(VALUES), max_size=4), "const": st.sampled_from(VALUES),
    "format": st.sampled_from(["date", "uri", "int64"]), "default": st.sampled_from(VALUES),
    "description": st.just("D"),
    "type": st.sampled_from(KINDS) | st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True),
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/definitions/c"]),
}  # fmt: skip


def _containing(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(_names, inner, max_size=3)
    keywords = {
        **_LIMITS, "properties": named, "dependentSchemas": st.dictionaries(_names, inner, max_size=1),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "."]), inner, max_size=2),
        "allOf": several, "anyOf": several, "oneOf": several, "prefixItems": several,
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
                         "unevaluatedProperties", "unevaluatedItems"), inner),
    }  # fmt: skip
    likely = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": named},
        optional={
            "required": keywords["required"],
            "additionalProperties": st.just(False),
            "description": st.just("D"),
        },
    )
    anything = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in chosen})
    )
    choice = st.fixed_dictionaries({"anyOf": several}) | st.fixed_dictionaries({"oneOf": several})
    array = st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    return likely | likely | anything | choice | array


_leaves = (
    st.fixed_dictionaries({"type": _LIMITS["type"]}, optional={"enum": _LIMITS["enum"]})
    | st.fixed_dictionaries({"type": st.sampled_from(["string", "integer"])})
    | st.fixed_dictionaries({"$ref": _LIMITS["$ref"]})
    | st.fixed_dictionaries({"const": _LIMITS["const"]})
    | st.booleans()
    | st.just({})
)
_parts = st.recursive(_leaves, _containing, max_leaves=8)
schemas = st.builds(
    lambda root, a, b, c: {**root, "$defs": {"a": a, "b": b}, "definitions": {"c": c}},
    _containing(_parts), _parts, _parts, _parts,
)  # fmt: skip
"""Valid JSON Schemas of draft 2020-12, most of them of an object."""


_words = st.sampled_from([*sorted(_LIMITS), "properties", "items", "anyOf", "allOf", "oneOf", "not", "if", "$defs",
                          "definitions", "nullable", "dependencies", "additionalItems", "patternProperties", "$id",
                          "additionalProperties", "prefixItems", "$anchor", "example",
                          "examples", "x-more"])  # fmt: skip
_told = st.sampled_from(["dict", "int?", "List[str]", "a | b", "[(<", "#/$defs/a", "#a", "#/properties/a/0", "", "("])
garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | _told,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words | _names, inner, max_size=4),
    max_leaves=15,
)
"""JSON in which the words of schemas stand anywhere."""


def nearly(schema: Any, chance: Random, whole: Any = None, deep: int = 0) -> Any:
    """Return a value that was made after the schema, and may or may not fit it."""
    whole = schema if whole is None else whole
    if not isinstance(schema, dict) or deep > 8 or chance.random() < 0.03:
        return chance.choice(VALUES)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return nearly(whole.get("$defs", {}).get(name, {}), chance, whole, deep + 1)
    for keyword in ("allOf", "anyOf", "oneOf"):
        if schema.get(keyword):
            rest = {key: held for key, held in schema.items() if key != keyword}
            chosen = chance.choice(schema[keyword])
            return nearly(_both(rest, chosen), chance, whole, deep + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return chance.choice(schema["enum"])
    kinds = schema.get("type", "object" if "properties" in schema or deep == 0 else chance.choice(KINDS))
    kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
    if kind == "object":
        return _object(schema, chance, whole, deep)
    if kind == "array":
        parts = [nearly(each, chance, whole, deep + 1) for each in schema.get("prefixItems", ())]
        return parts + [nearly(schema.get("items", {}), chance, whole, deep + 1) for _ in range(chance.randint(0, 2))]
    return chance.choice([value for value in VALUES if _is(value, kind)])


def _object(schema: Any, chance: Random, whole: Any, deep: int) -> Any:
    properties = schema.get("properties", {})
    names = [name for name in properties if name in schema.get("required", ()) or chance.random() < 0.6]
    value = {name: nearly(properties[name], chance, whole, deep + 1) for name in names}
    for name in (*NAMES, "ab"):
        if name not in properties and schema.get("additionalProperties") is not False and chance.random() < 0.15:
            value[name] = nearly(schema.get("additionalProperties", {}), chance, whole, deep + 1)
        elif name in value and chance.random() < 0.1:
            value[name] = None
    return value


def _both(rest: Any, chosen: Any) -> Any:
    if not isinstance(chosen, dict):
        return rest
    properties = {**rest.get("properties", {}), **chosen.get("properties", {})}
    required = [*rest.get("required", ()), *chosen.get("required", ())]
    more = {**({"properties": properties} if properties else {}), **({"required": required} if required else {})}
    return {**rest, **chosen, **more}


def _is(value: Any, kind: str) -> bool:
    like = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}[kind]
    return isinstance(value, like) and (kind == "boolean" or not isinstance(value, bool))
