"""From whatever stands where a schema is due to JSON Schema of draft 2020-12: each keyword read, or left out and told.

What older drafts and OpenAPI say otherwise is said anew (`nullable`, `definitions`, `exclusiveMinimum: true`, a list
of `items`, `required: true` in a property). A schema that is valid means the same afterwards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.parts import ANNOTATIONS, NAMED, NOTHING, ONE, SEVERAL, Schema
from runtime.model.requests.references import Pointers
from runtime.model.requests.types import schema_of_type

DEEPEST = 40
"""Schemas inside each other; deeper ones are no tools but accidents."""
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
           "maxContains")  # fmt: skip
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class Mender:
    """Mends one schema with all that it refers to."""

    def __init__(self, whole: Any) -> None:
        """Take over JSON that is clean."""
        self._pointers = Pointers(whole)
        self._whole = whole
        self.defs: dict[str, Schema] = {}
        """What is referred to, by name."""
        self.notes: list[str] = []
        self._met: list[tuple[str, Any]] = []

    def mend(self) -> Schema:
        """Return the root, in which `$ref` names an entry of `defs`; raise UnusableSchema."""
        root = self._node(self._whole, "", 0)
        while self._met:
            name, target = self._met.pop()
            self.defs[name] = self._node(target, name, 1)
        return root

    def _node(self, told: Any, where: str, deep: int) -> Schema:
        if deep > DEEPEST:
            raise UnusableSchema(f"{_at(where)} nests deeper than {DEEPEST} schemas. Make it flatter.")
        if isinstance(told, bool) or told is None:
            return dict(NOTHING) if told is False else {}
        if isinstance(told, str | list):  # a type where a schema is due
            told = {"type": told}
        if not isinstance(told, dict):
            self._note(where, f"is {str(told)[:40]} where a schema is due; anything fits")
            return {}
        out = self._typed(told, where, deep)
        for keyword, value in told.items():
            if keyword not in ("type", "$ref", "$dynamicRef", "$recursiveRef"):
                self._take(out, keyword, value, where, deep)
        self._old_drafts(out, told, where, deep)
        out = self._referring(out, told, where)
        return null_too(out) if told.get("nullable") is True else out

    def _typed(self, told: Mapping[str, Any], where: str, deep: int) -> Schema:
        if "type" not in told:
            return {}
        kind = told["type"]
        if isinstance(kind, dict):  # a schema where its type is due
            return self._node(kind, where, deep + 1)
        read = schema_of_type(kind)
        if read is None:
            self._note(where, f"has the type {str(kind)[:60]!r}, which says nothing; anything fits")
        return read or {}

    def _take(self, out: Schema, keyword: str, value: Any, where: str, deep: int) -> None:
        """Add a keyword that can be read as it stands."""
        inner: Callable[[Any, str], Schema] = lambda schema, name: self._node(schema, f"{where}.{name}", deep + 1)  # noqa: E731
        if keyword in ANNOTATIONS:
            self._annotation(out, keyword, value)
        elif keyword in NAMED:
            if isinstance(value, dict):
                self._put(out, keyword, {name: inner(each, name) for name, each in self._named(keyword, value, where)})
        elif keyword in SEVERAL:
            if isinstance(value, list) and value:
                self._put(out, keyword, [inner(each, f"{keyword}[{place}]") for place, each in enumerate(value)])
        elif keyword in ONE:
            if not (keyword == "items" and isinstance(value, list)):
                self._put(out, keyword, inner(value, keyword))
        else:
            self._limit(out, keyword, value, where)

    def _named(self, keyword: str, value: Mapping[str, Any], where: str) -> list[tuple[str, Any]]:
        if keyword != "patternProperties":
            return list(value.items())
        for pattern in value:
            if not _compiles(pattern):
                self._note(where, f"names properties by {pattern[:60]!r}, which is no regular expression")
        return [(pattern, each) for pattern, each in value.items() if _compiles(pattern)]

    def _put(self, out: Schema, keyword: str, value: Any) -> None:
        """Add a keyword; where its type has brought one along, both hold."""
        if keyword in out:
            out.setdefault("allOf", []).append({keyword: value})
        else:
            out[keyword] = value

    def _annotation(self, out: Schema, keyword: str, value: Any) -> None:
        match keyword:
            case "examples":
                out[keyword] = value if isinstance(value, list) else [value]
            case "default":
                out[keyword] = value
            case "format" if not isinstance(value, str):
                pass
            case _:
                if value not in (None, ""):
                    out[keyword] = str(value)

    def _limit(self, out: Schema, keyword: str, value: Any, where: str) -> None:
        if keyword in _COUNTS or keyword in _NUMBERS:
            number = value if _is_number(value) else None
            whole = number is not None and (keyword in _NUMBERS or (number >= 0 and number == int(number)))
            if number is not None and whole and not (keyword == "multipleOf" and number <= 0):
                out[keyword] = int(number) if keyword in _COUNTS else number
            elif not isinstance(value, bool) and value is not None:
                self._note(where, f"has a {keyword} that is no number: {str(value)[:40]!r}")
        elif keyword == "enum" and value is not None:
            values = value if isinstance(value, list) else list(value) if isinstance(value, dict) else [value]
            out[keyword] = values
        elif keyword == "const" or (keyword == "uniqueItems" and isinstance(value, bool)):
            out[keyword] = value
        elif keyword == "pattern" and isinstance(value, str):
            self._pattern(out, value, where)
        elif keyword == "required" and not isinstance(value, bool):
            names = value if isinstance(value, list) else [value]
            out[keyword] = list(dict.fromkeys(name for name in names if isinstance(name, str)))
        elif keyword == "dependentRequired" and isinstance(value, dict):
            out[keyword] = {name: _names(each) for name, each in value.items() if isinstance(each, list)}

    def _pattern(self, out: Schema, pattern: str, where: str) -> None:
        if _compiles(pattern):
            out["pattern"] = pattern
            return
        self._note(where, f"has a pattern that is no regular expression here and is told in words: {pattern[:60]!r}")
        out["description"] = f"{out.get('description', '')} Pattern: {pattern}".strip()

    def _old_drafts(self, out: Schema, told: Mapping[str, Any], where: str, deep: int) -> None:
        """Say anew what earlier drafts say otherwise."""
        for limit, strictly in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if told.get(strictly) is True and limit in out:
                out[strictly] = out.pop(limit)
        if isinstance(told.get("items"), list):
            self._tuple(out, told, where, deep)
        properties = told.get("properties")
        if isinstance(properties, dict):
            needed = [
                name for name, each in properties.items() if isinstance(each, dict) and each.get("required") is True
            ]
            if needed:
                out["required"] = list(dict.fromkeys([*out.get("required", ()), *needed]))
        for name, needs in told["dependencies"].items() if isinstance(told.get("dependencies"), dict) else ():
            if isinstance(needs, list):
                out.setdefault("dependentRequired", {})[name] = _names(needs)
            else:
                out.setdefault("dependentSchemas", {})[name] = self._node(needs, f"{where}.{name}", deep + 1)
        if "example" in told and "examples" not in out:
            out["examples"] = [told["example"]]

    def _tuple(self, out: Schema, told: Mapping[str, Any], where: str, deep: int) -> None:
        parts = [self._node(each, f"{where}[{place}]", deep + 1) for place, each in enumerate(told["items"])]
        out.pop("items", None)
        if parts:
            out["prefixItems"] = parts
        if "additionalItems" in told:
            out["items"] = self._node(told["additionalItems"], f"{where}.additionalItems", deep + 1)

    def _referring(self, out: Schema, told: Mapping[str, Any], where: str) -> Schema:
        """Add what is referred to: beside annotations as it is, beside anything else as one of `allOf`."""
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword not in told:
                continue
            reference = {"$ref": f"#/$defs/{self._def(told[keyword], where)}"}
            if out.keys() <= set(ANNOTATIONS):
                out = {**reference, **out}
            else:
                out.setdefault("allOf", []).append(reference)
        return out

    def _def(self, reference: Any, where: str) -> str:
        """Return the name in `defs` of what is referred to; it is mended after this."""
        name, target, met = self._pointers.find(reference, _at(where))
        if not met:
            self._met.append((name, target))
        return name

    def _note(self, where: str, what: str) -> None:
        self.notes.append(f"{_at(where)} {what}.")


def null_too(schema: Schema) -> Schema:
    """Return a schema that null fits as well."""
    kinds = schema.get("type")
    if isinstance(kinds, str | list) and not {"const", "allOf", "anyOf", "oneOf", "not", "if", "$ref"} & schema.keys():
        kinds = [kinds] if isinstance(kinds, str) else kinds
        out = schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
        return {**out, "enum": [*out["enum"], None]} if "enum" in out and None not in out["enum"] else out
    if not schema or schema == {"type": "null"}:
        return schema
    if schema.keys() <= {"anyOf", *ANNOTATIONS}:
        nullable = {"type": "null"} in schema["anyOf"] if "anyOf" in schema else True
        return schema if nullable else {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]}


def _at(where: str) -> str:
    return f"`{where.lstrip('.')}`" if where else "It"


def _names(told: list[Any]) -> list[str]:
    return list(dict.fromkeys(name for name in told if isinstance(name, str)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
