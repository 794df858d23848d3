"""The way back: from arguments that fit the schema a model saw to arguments that fit the schema of the tool.

A way takes a JSON value and returns one; it changes nothing it was given, and passes over what it does not expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.model.requests.parts import Schema, is_of, types_of
from runtime.model.requests.references import named_by

Way = Callable[[Any], Any]


def of_object(inner: Mapping[str, Way], absent: frozenset[str]) -> Way | None:
    """Return the way of an object: null in a property of `absent` says that there is none."""
    if not inner and not absent:
        return None

    def restore(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kept = {name: each for name, each in value.items() if each is not None or name not in absent}
        return {name: inner[name](each) if name in inner else each for name, each in kept.items()}

    return restore


def of_array(inner: Way | None) -> Way | None:
    """Return the way of an array."""
    if inner is None:
        return None
    return lambda value: [inner(each) for each in value] if isinstance(value, list) else value


def of_choice(alternatives: Sequence[Schema], ways: Sequence[Way | None], defs: Mapping[str, Schema]) -> Way | None:
    """Return the way of a value that fits one of these at least: the way of the first that it fits."""
    if not any(ways):
        return None
    fits = [_fitting(each, defs) for each in alternatives]

    def restore(value: Any) -> Any:
        like = [place for place, each in enumerate(alternatives) if _may_be(value, each, defs)]
        place = like[0] if len(like) == 1 else next((place for place in like if fits[place](value)), None)
        way = ways[place] if place is not None else None
        return way(value) if way is not None else value

    return restore


def of_plain(schema: Schema, defs: Mapping[str, Schema], known: dict[str, Way | None]) -> Way | None:
    """Return the way back from a schema that was left open: null in an optional property that cannot be null is none.

    Whatever fits the schema stays as it is; models write null where they mean to leave something out.
    """
    name = named_by(schema)
    if name is not None:
        if name not in known:
            made: list[Way | None] = []
            known[name] = lambda value: made[0](value) if made and made[0] is not None else value
            made.append(of_plain(defs[name], defs, known))
        return known[name]
    if types_of(schema) == ["array"] and "items" in schema and "prefixItems" not in schema:
        return of_array(of_plain(schema["items"], defs, known))
    properties: Mapping[str, Schema] = schema.get("properties", {})
    ways = {name: of_plain(each, defs, known) for name, each in properties.items()}
    required = schema.get("required", ())
    absent = {name for name, each in properties.items() if name not in required and _never_null(each, defs)}
    return of_object({name: way for name, way in ways.items() if way is not None}, frozenset(absent))


def _never_null(schema: Schema, defs: Mapping[str, Schema]) -> bool:
    name = named_by(schema)
    kinds = types_of(defs[name] if name is not None else schema)
    return kinds is not None and "null" not in kinds


def _may_be(value: Any, schema: Schema, defs: Mapping[str, Schema]) -> bool:
    name = named_by(schema)
    kinds = types_of(defs[name] if name is not None else schema)
    return kinds is None or any(is_of(value, kind) for kind in kinds)


def _fitting(schema: Schema, defs: Mapping[str, Schema]) -> Callable[[Any], bool]:
    """Return whether a value fits, by a validator that is made when it is first needed."""
    made: list[Any] = []

    def fits(value: Any) -> bool:
        if not made:
            from jsonschema import Draft202012Validator

            made.append(Draft202012Validator({**schema, "$defs": dict(defs)}))
        return bool(made[0].is_valid(value))

    return fits
