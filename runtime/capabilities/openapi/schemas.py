"""Schemas of a document as plain JSON Schema: references put in, the dialect of OpenAPI 3.0 turned into that of 3.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from contracts import Parameter, ValueType
from runtime.capabilities.openapi.document import Document, Place

_DEEPEST = 30
_LONGEST_TEXT = 1_000
_MOST = 4_000
"""Schemas that are looked at for one operation; references inside references can make any number of them."""

_CONSTRAINTS = frozenset({
    "type", "enum", "const", "description", "title", "format", "pattern", "minLength", "maxLength", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
    "minProperties", "maxProperties", "required", "examples",
})  # fmt: skip
_STRUCTURE = frozenset({"type", "required"})
_LEFT_OPEN = frozenset({
    "not", "if", "patternProperties", "prefixItems", "contains", "dependentRequired", "dependentSchemas",
    "propertyNames", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef",
})  # fmt: skip
"""Constraints that are not carried over: whoever is called holds them."""
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


class Schemas:
    """Makes the schemas of one operation. Where one repeats itself or never ends, it is left open from there on."""

    def __init__(self, document: Document, *, sent: bool) -> None:
        """Make those of what is sent, with every constraint, or those of what comes back, with its structure alone.

        Services break small promises all the time; an answer is not refused, and an effect not put into doubt, for
        the format of a field.
        """
        self._document = document
        self._sent = sent
        self._kept = _CONSTRAINTS if sent else _STRUCTURE
        self._hidden = "readOnly" if sent else "writeOnly"
        self._left = _MOST
        self._left_open = 0
        """How often something was left open that a schema says."""

    def of(self, node: Any, place: Place) -> dict[str, Any]:
        """Return the schema; raise DocumentFault for a reference that leads nowhere."""
        return self._made(node, place, frozenset())

    def _made(self, node: Any, place: Place, above: frozenset[Place]) -> dict[str, Any]:
        self._left -= 1
        there, where = self._document.resolve(node, place)
        if not isinstance(there, Mapping) or where in above or self._left < 0 or len(above) > _DEEPEST:
            self._left_open += there is not True
            return {}
        above |= {where}
        self._left_open += not _LEFT_OPEN.isdisjoint(there)
        if node is not there:  # what stands beside a reference is left open, but for its words
            self._left_open += not node.keys() <= {"$ref", "description", "title"}
            there = {**there, "description": node["description"]} if "description" in node else there
        made = {key: value for key, value in there.items() if key in self._kept and _is_usable(key, value)}
        made |= self._inner(there, where, above)
        return self._in_our_dialect(made, there)

    def _inner(self, there: Mapping[str, Any], where: Place, above: frozenset[Place]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key in ("items", "additionalProperties"):
            if key == "additionalProperties" and "patternProperties" in there:
                continue  # what matches a pattern is none of these
            if isinstance(there.get(key), Mapping):
                made[key] = self._made(there[key], (*where, key), above)
            elif key == "additionalProperties" and there.get(key) is False and self._sent:
                made[key] = False
        made |= self._ways(there, where, above)
        fields = there.get("properties")
        if isinstance(fields, Mapping):
            below = (*where, "properties")
            shown = {name: field for name, field in fields.items() if not self._is_hidden(field, (*below, name))}
            made["properties"] = {name: self._made(field, (*below, name), above) for name, field in shown.items()}
            if isinstance(there.get("required"), list):
                named = [name for name in there["required"] if isinstance(name, str)]
                made["required"] = list(dict.fromkeys(name for name in named if name in shown or name not in fields))
        return made

    def _ways(self, there: Mapping[str, Any], where: Place, above: frozenset[Place]) -> dict[str, Any]:
        """Return the choices; of those of which one alone may fit, any may, once something in them was left open."""
        made: dict[str, Any] = {}
        for key in ("allOf", "anyOf", "oneOf"):
            ways = there.get(key)
            if not isinstance(ways, list) or not ways:
                continue
            before = self._left_open
            inner = [self._made(way, (*where, key, number), above) for number, way in enumerate(ways)]
            if key != "oneOf" or (self._sent and before == self._left_open):
                made[key] = inner
            elif "anyOf" in made:
                made["allOf"] = [*made.get("allOf", []), {"anyOf": inner}]
            else:
                made["anyOf"] = inner
        return made

    def _is_hidden(self, field: Any, where: Place) -> bool:
        there, _ = self._document.resolve(field, where)
        return isinstance(there, Mapping) and there.get(self._hidden) is True

    def _in_our_dialect(self, made: dict[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
        if "example" in there and self._sent:
            made.setdefault("examples", [there["example"]])
        for bound in ("Minimum", "Maximum"):
            strict = made.get(f"exclusive{bound}")
            if isinstance(strict, bool):  # in 3.0 it says how the other bound is meant
                del made[f"exclusive{bound}"]
                if strict and bound.lower() in made:
                    made[f"exclusive{bound}"] = made.pop(bound.lower())
        if "properties" in made:
            made.setdefault("type", "object")
        if self._sent:
            return or_null(made) if there.get("nullable") is True else made
        return or_null(made) if "type" in made else made


def parameter_of(schema: Mapping[str, Any], *, needed: bool, described: str = "") -> Parameter:
    """Return an argument of this schema as a parameter of a plan, as far as its types tell."""
    plain, examples = plain_of(schema), schema.get("examples")
    kinds = kinds_in(plain)
    return Parameter(
        type=ValueType(kinds[0]) if len(kinds) == 1 else ValueType.ANY,
        description=described or _one_line(schema.get("description", "")),
        required=needed,
        choices=tuple(plain.get("enum", ())),
        example=examples[0] if examples else None,
    )


def kinds_in(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a value may be of beside null; none when that is left open."""
    kind = schema.get("type")
    return [each for each in (kind if isinstance(kind, list) else [kind]) if each not in ("null", None)]


def plain_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a value has to fit that is not null, where the schema writes that as a choice."""
    ways = [way for way in schema.get("anyOf", ()) if way.get("type") != "null"]
    return ways[0] if len(ways) == 1 and "type" not in schema else schema


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_TEXT]


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may also be null."""
    kind = schema.get("type")
    if kind is None:
        return {"anyOf": [schema, {"type": "null"}]} if schema else {}
    kinds = kind if isinstance(kind, list) else [kind]
    made = {**schema, "type": [*kinds, "null"] if "null" not in kinds else kinds}
    if isinstance(made.get("enum"), list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


def _is_usable(key: str, value: Any) -> bool:
    """Whether a constraint can be held here; documents come from programs in many languages."""
    match key:
        case "type":
            kinds = value if isinstance(value, list) else [value]
            return bool(kinds) and all(isinstance(kind, str) and kind in _TYPES for kind in kinds)
        case "enum" | "examples":
            return isinstance(value, list) and bool(value)
        case "required":
            return (
                isinstance(value, list) and all(isinstance(name, str) for name in value) and len({*value}) == len(value)
            )
        case "pattern":
            return isinstance(value, str) and _compiles(value)
        case "description" | "title" | "format":
            return isinstance(value, str)
        case "const":
            return True
        case "uniqueItems":
            return isinstance(value, bool)
        case "exclusiveMinimum" | "exclusiveMaximum" | "minimum" | "maximum":
            return isinstance(value, int | float)
        case "multipleOf":
            return isinstance(value, int | float) and value > 0
    return isinstance(value, int) and value >= 0


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
