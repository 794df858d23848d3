from __future__ import annotations

from typing import Any

import pytest

from contracts import Parameter, ValueType
from runtime.capabilities.argument_schema import (
    parameters_in,
    resolved,
    schema_for,
    tells_more_than_types,
    without_words,
)
from runtime.schema import fault_of

LEG: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string", "title": "Where"}, "then": {"$ref": "#/$defs/leg"}},
    "required": ["to"],
    "additionalProperties": False,
}
ROUTE: dict[str, Any] = {
    "type": "object",
    "properties": {"route": {"$ref": "#/$defs/leg"}, "n": {"type": "integer", "description": "How many."}},
    "required": ["route"],
    "$defs": {"leg": LEG},
}


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_schema_that_refers_to_itself_ends_and_is_open_from_there_on() -> None:
    schema = resolved(ROUTE)

    assert fault_of({"route": {"to": "JFK", "then": {"to": "LAX", "then": {"anything": 1}}}}, schema) is None
    assert fault_of({"route": {"to": "JFK", "via": "x"}}, schema) == "There is no `via` here."
    assert "`to` is missing" in str(fault_of({"route": {}}, schema))


def test_references_inside_references_without_end_are_bounded() -> None:
    each = {f"d{n}": arguments(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"}) for n in range(40)}
    schema = resolved({**arguments(x={"$ref": "#/$defs/d0"}), "$defs": {**each, "d40": {"type": "string"}}})

    assert fault_of({"x": {"a": {"b": {}}}}, schema) is None


@pytest.mark.parametrize(
    ("schema", "fits", "refused"),
    [
        ({"patternProperties": {"^x": {}}, "additionalProperties": False, "type": "object"}, {"xy": 1}, "a"),
        ({"oneOf": [{"not": {"type": "string"}}, {"type": "integer"}]}, 3, None),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, 3.5, 3),
        ({"anyOf": [{"type": "string"}], "oneOf": [{"if": {}, "type": "string"}, {"minLength": 2}]}, "ab", 1),
        ({"$ref": "#/$defs/day", "pattern": "^x"}, "y", 1),
    ],
)
def test_what_cannot_be_held_here_is_left_to_the_other_side_and_refuses_nothing(
    schema: dict[str, Any], fits: Any, refused: Any
) -> None:
    made = resolved({**arguments(value=schema), "$defs": {"day": {"type": "string"}}})

    assert fault_of({"value": fits}, made) is None
    assert refused is None or fault_of({"value": refused}, made) is not None


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array"}, "it must be the schema of an object, and its type is array"),
        (arguments(x={"$ref": "#/$defs/x"}), "properties.x: `#/\\$defs/x` is not in the document"),
        (arguments(x={"$ref": "http://x.example/y"}), "points outside of this document"),
        ({**arguments(x={}), "required": ["y"]}, "`required` names `y`"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        resolved(schema)


def test_arguments_are_parameters_as_far_as_types_tell() -> None:
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    found = parameters_in(resolved({**arguments(**ROUTE["properties"], note=optional), "$defs": {"leg": LEG}}))

    assert {name: (each.type, each.description) for name, each in found.items()} == {
        "route": (ValueType.OBJECT, ""),
        "n": (ValueType.INTEGER, "How many."),
        "note": (ValueType.STRING, ""),
    }


def test_null_stands_for_what_need_not_be_given_and_for_nothing_that_has_a_default() -> None:
    schema = resolved(ROUTE)
    own = {"n": Parameter(type=ValueType.INTEGER, default=1)}

    assert fault_of({"route": {"to": "JFK"}, "n": None}, schema_for(schema, parameters_in(schema))) is None
    assert fault_of({"route": {"to": "JFK"}, "n": None}, schema_for(schema, {**parameters_in(schema), **own}))


def test_words_are_left_out_and_fields_that_are_called_like_words_are_not() -> None:
    schema = resolved(
        arguments(description={"type": "object", "title": "No.", "properties": {"title": {"title": "x"}}})
    )

    assert without_words(schema)["properties"] == {"description": {"type": "object", "properties": {"title": {}}}}


@pytest.mark.parametrize(
    ("schema", "more"),
    [({"type": "string"}, False), ({"anyOf": [{"type": "string"}, {"type": "null"}]}, False), ({"enum": ["a"]}, True),
     ({"type": "array", "items": {"type": "string"}}, True), ({"anyOf": [{"type": "array", "items": {}}, {}]}, True)],
)  # fmt: skip
def test_only_what_types_do_not_tell_needs_a_schema(schema: dict[str, Any], more: bool) -> None:
    assert tells_more_than_types(resolved(arguments(x=schema))) is more
