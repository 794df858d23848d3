"""Two schemas that both hold, written as one where that says exactly the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runtime.canonical import to_text
from runtime.model.requests.parts import ANNOTATIONS, NOTHING, Schema, types_of

_CLOSING = ("properties", "patternProperties", "additionalProperties")
_LISTED = ("prefixItems", "items")
_APART = ("if", "then", "else", "contains", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties")
"""Keywords that work together: where both schemas have one of them, they stay apart."""
_BESIDE = frozenset(("$ref", *ANNOTATIONS))


class Apart(Exception):
    """The two cannot be written as one."""


class Impossible(Exception):
    """No value fits both."""


def joined(one: Schema, other: Schema) -> Schema:
    """Return the schema of what fits both; where both annotate, the first is kept.

    Raises:
        Apart: it can only be written with `allOf`.
        Impossible: nothing fits both.
    """
    if any(keyword in one for keyword in _APART) and any(keyword in other for keyword in _APART):
        raise Apart
    if ("$ref" in one and not other.keys() <= _BESIDE) or ("$ref" in other and not one.keys() <= _BESIDE):
        raise Apart  # what stands beside a reference was passed over before 2019-09, and is by some still
    out = {**one, **_objects(one, other), **_arrays(one, other)}
    for keyword, held in other.items():
        if keyword in _CLOSING or keyword in _LISTED:
            continue
        if keyword not in out:
            out[keyword] = held
        elif keyword not in ANNOTATIONS and to_text(out[keyword]) != to_text(held):
            out[keyword] = _JOIN.get(keyword, _apart)(out[keyword], held)
    return out


def _objects(one: Schema, other: Schema) -> Schema:
    """Join what is said about properties: what closes one of the two must not close out what the other names."""
    sides = [{key: side[key] for key in _CLOSING if key in side} for side in (one, other)]
    if not all(sides):
        return sides[0] or sides[1]
    closed = any("additionalProperties" in side for side in sides)
    names = [(sorted(side.get("properties", ())), sorted(side.get("patternProperties", ()))) for side in sides]
    if closed and names[0] != names[1]:
        raise Apart
    out: Schema = {}
    for group in ("properties", "patternProperties"):
        if group in sides[0] or group in sides[1]:
            first, second = (side.get(group, {}) for side in sides)
            names_of_both = dict.fromkeys((*first, *second))
            out[group] = {name: _both(first.get(name, {}), second.get(name, {})) for name in names_of_both}
    if closed:
        out["additionalProperties"] = _both(*(side.get("additionalProperties", {}) for side in sides))
    return out


def _both(first: Schema, second: Schema) -> Schema:
    """Join what is said about a part of the value: that nothing fits it says nothing about the whole."""
    if not first or not second:
        return first or second
    try:
        return joined(first, second)
    except Apart:
        return {"allOf": [first, second]}
    except Impossible:
        return dict(NOTHING)


def _arrays(one: Schema, other: Schema) -> Schema:
    sides: list[Schema] = [{key: side[key] for key in _LISTED if key in side} for side in (one, other)]
    if not all(sides):
        return sides[0] or sides[1]
    if "prefixItems" in sides[0] or "prefixItems" in sides[1]:
        if to_text(sides[0]) != to_text(sides[1]):
            raise Apart
        return sides[0]
    return {"items": _both(sides[0]["items"], sides[1]["items"])}


def _types(one: Any, other: Any) -> Any:
    first, second = types_of({"type": one}) or [], types_of({"type": other}) or []
    both = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    both += [kind for kind in second if kind == "integer" and "number" in first and kind not in both]
    if not both:
        raise Impossible
    return both[0] if len(both) == 1 else both


def _values(one: list[Any], other: list[Any]) -> list[Any]:
    texts = {text_of(value) for value in other}
    both = [value for value in one if text_of(value) in texts]
    if not both:
        raise Impossible
    return both


def text_of(value: Any) -> str:
    """Return a text that is the same for values that JSON Schema takes for the same: 1 and 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return to_text(value)


def _same(one: Any, other: Any) -> Any:
    if text_of(one) != text_of(other):
        raise Impossible
    return one


def _apart(one: Any, other: Any) -> Any:
    raise Apart


_JOIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _values,
    "const": _same,
    "required": lambda one, other: list(dict.fromkeys((*one, *other))),
    "uniqueItems": lambda one, other: one or other,
    "allOf": lambda one, other: [*one, *other],
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
