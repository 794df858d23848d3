"""The strict form of a schema, where it has one: the endpoint then holds the model to it word for word.

Strict mode takes a part of JSON Schema: every property required and none beside them, a type everywhere, `anyOf` as
the only choice, and few limits. What cannot be said so is not left out, since the model would be promised more than
the tool takes: the tool is offered as it is, without the promise. Source of the keywords: "Supported schemas" in the
guide to structured outputs of OpenAI. Of sizes the smallest in use are kept (the first of OpenAI, today's of Azure).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from runtime.canonical import to_text
from runtime.model.requests.disjoint import disjoint
from runtime.model.requests.joining import Apart, Impossible, joined
from runtime.model.requests.mending import null_too
from runtime.model.requests.parts import ANNOTATIONS, CONCERNS, Schema, children, is_of, types_of
from runtime.model.requests.references import named_by
from runtime.model.requests.restoring import Way, of_array, of_choice, of_object
from runtime.model.requests.tidying import is_nothing

MOST_PROPERTIES = 100
MOST_LEVELS = 5
MOST_VALUES = 500
MOST_CHARACTERS = 15_000
_MOST_ALTERNATIVES = 50
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_TAKEN = frozenset(("type", "description", "enum", "properties", "required", "additionalProperties", "items", "pattern",
                    "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
                    "multipleOf", "format"))  # fmt: skip
_NO_LIMIT: Mapping[str, Any] = {"minLength": 0, "minProperties": 0, "uniqueItems": False, "propertyNames": {}}
_HARD_PATTERN = re.compile(r"\(\?|\\[1-9bBAZ]")
"""What not every engine of patterns knows: looking around, flags, names, references back, edges of words."""


class NotStrict(Exception):
    """The schema has no strict form; the message says what stands in the way."""


def strict_form(root: Schema, defs: Mapping[str, Schema]) -> tuple[Schema, dict[str, Schema], Way | None]:
    """Return the strict form of a schema of an object, of its definitions, and the way back.

    Whatever fits the strict form fits the schema once it has gone the way back.

    Raises:
        NotStrict: there is none.
    """
    forms = _Forms(defs)
    schema, way = forms.of(root, "", 1)
    whole = {"": schema, **forms.defs}
    _check_sizes(whole)
    return schema, forms.defs, way


class _Forms:
    def __init__(self, defs: Mapping[str, Schema]) -> None:
        self._given = defs
        self._ways: dict[str, Way | None] = {}
        self.defs: dict[str, Schema] = {}

    def of(self, schema: Schema, where: str, level: int) -> tuple[Schema, Way | None]:
        name = named_by(schema)
        if name is not None:
            return self._reference(name)
        if level > MOST_LEVELS:
            raise NotStrict(f"{_at(where)} lies deeper than {MOST_LEVELS} levels")
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._choice(schema, keyword, where, level)
        kinds = types_of(schema)
        if kinds is None:
            raise NotStrict(f"{_at(where)} has no type")
        if len(kinds) > 1 and {"object", "array"} & set(kinds):
            told = {keyword: held for keyword, held in schema.items() if keyword in ANNOTATIONS}
            rest = {keyword: held for keyword, held in schema.items() if keyword not in ("type", *ANNOTATIONS)}
            return self._choice({**told, "anyOf": [{**rest, "type": kind} for kind in kinds]}, "anyOf", where, level)
        out = _own(schema, kinds, where)
        if kinds == ["object"]:
            return self._object(schema, out, where, level)
        if kinds == ["array"]:
            if "items" not in schema:
                raise NotStrict(f"{_at(where)} does not say what is in the list")
            out["items"], way = self.of(schema["items"], f"{where}[]", level + _nests(schema["items"]))
            return out, of_array(way)
        return out, None

    def _object(self, schema: Schema, out: Schema, where: str, level: int) -> tuple[Schema, Way | None]:
        others, given = schema.get("additionalProperties"), schema.get("properties", {})
        if (others is not None and not is_nothing(others)) or (others is None and not given and where):
            raise NotStrict(f"{_at(where)} takes properties of any name")
        required = schema.get("required", ())
        if not set(required) <= given.keys() or any(is_nothing(given[name]) for name in required):
            raise NotStrict(f"{_at(where)} requires what it does not describe")
        properties: dict[str, Schema] = {}
        ways: dict[str, Way] = {}
        absent = set()
        for name, inner in given.items():
            if is_nothing(inner):  # nobody can give it, and closed the object says so
                continue
            form, way = self.of(inner, f"{where}.{name}", level + _nests(inner))
            if name not in required and not _surely_null_too(inner):
                form = _or_null(form)
                absent.add(name)
            properties[name] = form
            if way is not None:
                ways[name] = way
        closed = {"properties": properties, "required": list(properties), "additionalProperties": False}
        return {**out, **closed}, of_object(ways, frozenset(absent))

    def _choice(self, schema: Schema, keyword: str, where: str, level: int) -> tuple[Schema, Way | None]:
        rest = {key: held for key, held in schema.items() if key != keyword and key not in ANNOTATIONS}
        alternatives = [each for each in (_with(rest, each, where) for each in schema[keyword]) if each is not None]
        if not 0 < len(alternatives) <= _MOST_ALTERNATIVES:
            raise NotStrict(f"{_at(where)} has {len(alternatives)} alternatives")
        if keyword == "oneOf" and not all(disjoint(*pair, self._given) for pair in combinations(alternatives, 2)):
            raise NotStrict(f"{_at(where)} has alternatives (oneOf) of which a value may fit several")
        formed = [self.of(each, where or "arguments", level) for each in alternatives]
        forms, ways = [form for form, _ in formed], [way for _, way in formed]
        self._check_first_keys(forms, where)
        told = {"description": text} if (text := _told(schema)) else {}
        return {**told, "anyOf": forms}, of_choice(forms, ways, self.defs)

    def _reference(self, name: str) -> tuple[Schema, Way | None]:
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name], self._ways[name] = self.of(self._given[name], name, 1)

        def restore(value: Any) -> Any:
            way = self._ways[name]
            return way(value) if way is not None else value

        return {"$ref": f"#/$defs/{name}"}, restore

    def _check_first_keys(self, forms: Sequence[Schema], where: str) -> None:
        """Refuse objects that begin with the same property: endpoints do, unless its values tell them apart."""
        objects = [self.defs.get(named_by(form) or "", form) for form in forms]
        firsts = [next(iter(each.get("properties", {}).items()), None) for each in objects]
        for one, other in combinations([first for first in firsts if first is not None], 2):
            if one[0] == other[0] and not ("enum" in one[1] and disjoint(one[1], other[1], {})):
                raise NotStrict(f"{_at(where)} has alternatives that begin with the same property, `{one[0]}`")


def _own(schema: Schema, kinds: Sequence[str], where: str) -> Schema:
    """Return what is said about a value itself, in words that strict mode takes."""
    out: Schema = {"type": list(kinds) if len(kinds) > 1 else kinds[0]}
    about = {"number" if kind == "integer" else kind for kind in kinds}
    text = _told(schema)
    if text:
        out["description"] = text
    for keyword, held in schema.items():
        if keyword in ("type", *ANNOTATIONS) or (keyword in CONCERNS and CONCERNS[keyword] not in about):
            continue
        if keyword in _NO_LIMIT and held == _NO_LIMIT[keyword]:
            continue
        if keyword in ("const", "enum"):
            out["enum"] = _plain_values([held] if keyword == "const" else held, where)
        elif keyword not in _TAKEN or (keyword == "pattern" and _HARD_PATTERN.search(held)):
            raise NotStrict(f"{_at(where)} is limited by `{keyword}`, which strict schemas do not take")
        else:
            out[keyword] = held
    if schema.get("format") in _FORMATS and "string" in kinds and "enum" not in out:
        out["format"] = schema["format"]
    return out


def _plain_values(values: list[Any], where: str) -> list[Any]:
    if any(isinstance(value, dict | list) for value in values):
        raise NotStrict(f"{_at(where)} has objects or lists for values")
    return values


def _told(schema: Schema) -> str:
    """Return the description, and with it what strict schemas have no keyword for."""
    parts = [schema["description"]] if "description" in schema else []
    if schema.get("format") is not None and schema["format"] not in _FORMATS:
        parts.append(f"Format: {schema['format']}.")
    if schema.get("default") is not None:
        parts.append(f"Default: {to_text(schema['default'])}.")
    if schema.get("examples"):
        parts.append(f"Example: {to_text(schema['examples'][0])}.")
    return " ".join(parts)


def _with(rest: Schema, alternative: Schema, where: str) -> Schema | None:
    """Return an alternative with what holds for all of them; None where nothing fits it then."""
    if not rest:
        return None if is_nothing(alternative) else alternative
    try:
        return joined(alternative, rest)
    except Impossible:
        return None
    except Apart:
        raise NotStrict(f"{_at(where)} has alternatives and limits of its own beside them") from None


def _or_null(form: Schema) -> Schema:
    if form.get("type") in ("object", "array"):
        return {"anyOf": [form, {"type": "null"}]}
    return null_too(form)


def _surely_null_too(schema: Schema) -> bool:
    """Whether null is a value of the schema itself, as far as can be seen at once."""
    if schema.keys() <= {"anyOf", *ANNOTATIONS} and "anyOf" in schema:
        return any(_surely_null_too(each) for each in schema["anyOf"])
    if {"const", "allOf", "anyOf", "oneOf", "not", "if", "$ref"} & schema.keys():
        return False
    return "null" in (types_of(schema) or ()) and ("enum" not in schema or None in schema["enum"])


def _nests(schema: Schema) -> int:
    """Return how many levels a schema adds: one, unless its values hold no others."""
    kinds = types_of(schema)
    return int(kinds is None or bool({"object", "array"} & set(kinds)))


def _check_sizes(forms: Mapping[str, Schema]) -> None:
    parts = [part for form in forms.values() for part in _all_in(form)]
    named = [name for part in parts for name in part.get("properties", ())]
    values = [value for part in parts for value in part.get("enum", ())]
    characters = sum(map(len, (*forms, *named))) + sum(len(value) for value in values if is_of(value, "string"))
    for count, most, what in (
        (len(named), MOST_PROPERTIES, "properties"),
        (len(values), MOST_VALUES, "values to choose from"),
        (characters, MOST_CHARACTERS, "characters of names and values"),
    ):
        if count > most:
            raise NotStrict(f"It has {count:,} {what}, and strict schemas have {most:,} at most")


def _all_in(schema: Schema) -> Iterator[Schema]:
    yield schema
    for inner in children(schema):
        if isinstance(inner, dict):  # a form says `additionalProperties: false`
            yield from _all_in(inner)


def _at(where: str) -> str:
    return f"`{where.lstrip('.')}`" if where else "It"
