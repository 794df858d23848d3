"""Schemas of the wild as endpoints take them, and the way back."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.schemas import Normalised, normalise
from tests.runtime.model.requests.wild import VALUES, garbage, nearly, schemas

slow = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NODE = {"type": "object", "properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/N"}}, "required": ["v"]}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def of(schema: Any, *, strict: bool = True) -> Normalised:
    result = normalise(schema, strict=strict)
    Draft202012Validator.check_schema(result.schema)
    assert result.schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "enum", "not"} & result.schema.keys()
    return result


@pytest.mark.parametrize("strict", [False, True])
@slow
@given(schema=schemas, seed=st.integers(0, 1_000_000))
def test_what_fits_the_result_fits_the_schema_once_it_is_restored(strict: bool, schema: Any, seed: int) -> None:
    try:
        result = of(schema, strict=strict)
    except UnusableSchema:
        return
    seen, real = Draft202012Validator(dict(result.schema)), Draft202012Validator(schema)
    chance = Random(seed)

    for _ in range(20):
        value = nearly(dict(result.schema), chance)
        if isinstance(value, dict) and seen.is_valid(value):
            assert real.is_valid(result.restore(value)), (value, result.schema)


@slow
@given(schema=schemas, seed=st.integers(0, 1_000_000))
def test_a_schema_is_unusable_only_when_no_object_fits_it(schema: Any, seed: int) -> None:
    try:
        normalise(schema, strict=False)
    except UnusableSchema as error:
        if "refers to" not in error.message:  # those have no meaning at all
            real, chance = Draft202012Validator(schema), Random(seed)
            values = [*VALUES, *(nearly(schema, chance) for _ in range(20))]
            assert not any(real.is_valid(value) for value in values if isinstance(value, dict))


@slow
@given(st.dictionaries(st.sampled_from(["a", "b"]), garbage), st.booleans())
def test_whatever_stands_where_a_schema_is_due_is_read_or_refused(properties: Any, strict: bool) -> None:
    for schema in (obj(**properties), {"type": "dict", **properties}, properties.get("a")):
        try:
            result = of(schema, strict=strict)
        except UnusableSchema:
            continue
        assert json.dumps(result.schema, allow_nan=False).encode()
        assert result.restore({"a": None, "b": [{"a": None}]}) is not None


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("dict", {"type": "object"}),
        ("float", {"type": "number"}),
        ("tuple", {"type": "array", "items": {}}),
        ("any", {}),
        ("INT", {"type": "integer"}),
        ("Optional[str]", {"type": ["string", "null"]}),
        ("str | None", {"type": ["string", "null"]}),
        ("list[int]", {"type": "array", "items": {"type": "integer"}}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("List<Map<String, Integer>>", {"type": "array", "items": {"type": "object"}}),
        ("Literal['a', 'b']", {"type": "string", "enum": ["a", "b"]}),
        ("datetime", {"type": "string", "format": "date-time"}),
        (["str", "null"], {"type": ["string", "null"]}),
        ({"type": "bool"}, {"type": "boolean"}),
        ("wibble", {}),
    ],
)
def test_types_of_other_languages_are_read_as_what_they_mean(told: Any, meant: Any) -> None:
    assert of(obj(x={"type": told}), strict=False).schema["properties"]["x"] == meant


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": 3}, {"type": "integer", "const": 3}),
        ({"allOf": [{"type": "number"}, {"minimum": 1}]}, {"type": "number", "minimum": 1}),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}),
        ({"type": "array", "items": [{"type": "str"}]},
         {"type": "array", "prefixItems": [{"type": "string"}], "items": {}}),
        ({"$ref": "#/definitions/d", "description": "D"}, {"type": "string", "description": "D"}),
        ({"properties": {}}, {"type": "object", "properties": {}}),
        ("string", {"type": "string"}),
        (True, {}),
        ({"type": "string", "pattern": "(", "minLength": "x"}, {"type": "string", "description": "Pattern: ("}),
        ({"type": "string", "default": float("nan"), "x-more": 1}, {"type": "string", "default": None}),
    ],
)  # fmt: skip
def test_older_and_odd_ways_to_say_it_are_said_anew(told: Any, meant: Any) -> None:
    schema = {**obj(x=told), "definitions": {"d": {"type": "str"}}}

    assert of(schema, strict=False).schema["properties"]["x"] == meant


def test_strict_says_null_for_what_is_left_out_and_the_way_back_takes_it_out() -> None:
    result = of({**obj(a={"type": "string"}, b={"type": "integer", "default": 3}), "required": ["a"]})

    assert result.strict and result.schema["required"] == ["a", "b"]
    assert result.schema["additionalProperties"] is False
    assert result.schema["properties"]["b"] == {"type": ["integer", "null"], "description": "Default: 3."}
    assert result.restore({"a": "x", "b": None}) == {"a": "x"}


def test_null_that_the_tool_takes_stays_null() -> None:
    result = of(obj(a={"type": ["string", "null"]}, b={"type": "string"}))

    assert result.restore({"a": None, "b": None}) == {"a": None}


def test_null_where_an_optional_argument_cannot_be_null_is_none_also_when_nothing_is_strict() -> None:
    schema = obj(a={"type": "string"}, b={"type": "array", "items": obj(c={"type": "string"})})

    assert of(schema, strict=False).restore({"a": None, "b": [{"c": None}, {}]}) == {"b": [{}, {}]}


def test_null_is_none_at_every_depth_of_a_schema_that_refers_to_itself() -> None:
    result = of({"$ref": "#/$defs/N", "$defs": {"N": NODE}}, strict=False)

    deep = {"v": "1", "next": {"v": "2", "next": {"v": "3", "next": None}}}
    assert result.restore(deep) == {"v": "1", "next": {"v": "2", "next": {"v": "3"}}}


def test_what_lies_between_schemas_that_refer_to_themselves_is_usable_too() -> None:
    between = obj(n={"$ref": "#/$defs/N"})
    other = {**obj(b={"$ref": "#/$defs/B"}, o={"$ref": "#/$defs/O"})}

    assert of({"$ref": "#/$defs/O", "$defs": {"N": NODE, "B": between, "O": other}}).strict


def test_what_looks_at_how_the_rest_is_written_finds_it_as_it_was() -> None:
    """Found by chance: to name what is required would let it through where nothing unnamed may be."""
    schema = {"anyOf": [{"required": ["a"], "properties": {}, "unevaluatedProperties": {"type": "string"}}]}
    fits = Draft202012Validator(dict(of(schema, strict=False).schema)).is_valid

    assert not fits({"a": True}) and not fits({"arguments": {"a": True}})
    assert fits({"arguments": {"a": "x"}})


def test_parts_that_nothing_fits_leave_the_whole_usable() -> None:
    one, other = ({"type": "object", "additionalProperties": {"type": kind}} for kind in ("string", "integer"))

    assert of({"allOf": [one, other]}, strict=False).schema["additionalProperties"] is False


def test_a_recursive_schema_stays_one_and_is_restored_to_its_depth() -> None:
    result = of({"$ref": "#/$defs/N", "$defs": {"N": NODE}})

    assert result.strict
    assert result.schema["$defs"]["N"]["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}
    assert result.restore({"v": "1", "next": {"v": "2", "next": None}}) == {"v": "1", "next": {"v": "2"}}


def test_a_choice_at_the_root_is_asked_for_as_one_argument() -> None:
    kinds = [{**obj(k={"const": k}, x={"type": "integer"}), "required": ["k"]} for k in ("a", "b")]
    result = of({"oneOf": kinds})

    assert result.strict and list(result.schema["properties"]) == ["arguments"]
    assert result.restore({"arguments": {"k": "a", "x": None}}) == {"k": "a"}
    assert result.restore({"k": "a"}) == {"k": "a"}  # by a model that was not held to the schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (obj(x={"type": "object"}), "`x` takes properties of any name"),
        (obj(x={}), "`x` has no type"),
        (obj(x={"type": "array"}), "`x` does not say what is in the list"),
        (obj(x={"type": "string", "minLength": 2}), "`x` is limited by `minLength`"),
        (obj(x={"type": "string", "pattern": "(?=a)"}), "`x` is limited by `pattern`"),
        ({"type": "object", "patternProperties": {"^x": {}}}, "It is limited by `patternProperties`"),
        ({**obj(x={"type": "string"}), "additionalProperties": True}, "It takes properties of any name"),
        (obj(**{f"p{n}": {"type": "string"} for n in range(300)}), "It has 300 properties"),
        (obj(x={"oneOf": [{"type": "integer"}, {"type": "number"}]}), "`x` has alternatives (oneOf)"),
        (obj(x={"anyOf": [obj(a={"type": "string"}), obj(a={"type": "integer"})]}), "begin with the same property"),
        (obj(x={"enum": [f"v{n}" for n in range(501)]}), "values to choose from"),
    ],
)
def test_what_strict_cannot_say_is_offered_as_it_is_and_told(schema: Any, why: str) -> None:
    result = of(schema)

    assert not result.strict
    assert why in result.notes[-1]
    assert result.schema == of(schema, strict=False).schema


def test_seven_levels_are_offered_without_the_promise() -> None:
    schema: Any = {"type": "float"}
    for level in range(7):
        schema = {"type": "dict", "properties": {f"level_{level}": schema}, "required": [f"level_{level}"]}

    assert (of(schema).strict, of(schema, strict=False).notes) == (False, ())


@pytest.mark.parametrize("schema", [None, {}, True, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_is_one(schema: Any) -> None:
    assert of(schema).strict
    assert dict(of(schema).schema)["properties"] == {}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (False, "No arguments fit it"),
        ({"type": "string"}, "Declare `type: object`"),
        ({"$ref": "#"}, "refers to itself"),
        (obj(x={"$ref": "https://elsewhere/x.json"}), "`x` refers to 'https://elsewhere/x.json'"),
        ({**obj(x={"enum": []}), "required": ["x"]}, "No arguments fit it"),
        ({**obj(), "required": ["x"], "additionalProperties": False}, "No arguments fit it"),
        (obj(x={"description": "x" * 100_001}), "characters"),
    ],
)
def test_what_cannot_be_used_at_all_says_why(schema: Any, why: str) -> None:
    with pytest.raises(UnusableSchema, match=re.escape(why)):
        normalise(schema, strict=True)


def test_one_that_nests_without_end_is_refused() -> None:
    schema: Any = {"type": "string"}
    for _ in range(45):
        schema = {"type": "array", "items": schema}

    with pytest.raises(UnusableSchema, match="nests deeper than 40"):
        normalise(obj(x=schema), strict=True)


@pytest.mark.parametrize("last", [{"type": "string"}, {"$ref": "#/$defs/d0"}])
def test_a_chain_of_a_thousand_definitions_is_refused_and_breaks_nothing(last: Any) -> None:
    defs = {f"d{n}": obj(a={"$ref": f"#/$defs/d{n + 1}"}) for n in range(1_000)}

    with pytest.raises(UnusableSchema, match="too deeply"):
        normalise({**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, "d1000": last}}, strict=True)


def test_references_that_would_multiply_stay_references() -> None:
    defs: dict[str, Any] = {
        f"d{n}": obj(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"}) for n in range(20)
    }
    result = of({**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, "d20": {"type": "string"}}})

    assert len(str(result.schema)) < 10_000
