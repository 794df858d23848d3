from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from contracts import Parameter, ValueType
from runtime.schema import (
    SchemaFault,
    _formats,
    _surely_usable,
    fault_of,
    fits,
    json_schema_of,
    json_schema_of_parameters,
    type_of,
)

GIVES: dict[str, Any] = {
    "rows": "array",
    "n": "integer",
    "who": {"type": ["string", "null"]},
    "day": "date",
    "cost": "money",
}
FITTING = {"rows": [], "n": 2, "who": None, "day": "2013-02-08", "cost": "5 USD", "more": 1}


def test_a_fitting_output_has_no_fault_and_may_hold_more() -> None:
    assert fault_of(FITTING, json_schema_of(GIVES)) is None


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("rows", 1, "`rows` must be a list, not 1."),
        ("n", True, "`n` must be a whole number, not true."),
        ("n", None, "`n` must be a whole number, not nothing."),
        ("who", 3, "`who` must be text or nothing, not 3."),
        ("day", "8 February", "`day` must be a date like 2013-02-08, not '8 February'."),
        ("cost", "5", "`cost` must be money like 5 USD, not '5'."),
    ],
)
def test_what_does_not_fit_is_told_in_plain_words(field: str, value: Any, words: str) -> None:
    assert fault_of({**FITTING, field: value}, json_schema_of(GIVES)) == words


def test_all_faults_are_told_at_once() -> None:
    fault = fault_of({"rows": 1, "n": "x"}, json_schema_of(GIVES))

    assert fault is not None
    for words in ("`who`, `day`, `cost` are missing.", "`rows` must be a list", "`n` must be a whole number"):
        assert words in fault


def test_a_list_that_is_too_long_or_too_short_is_told_by_its_length() -> None:
    schema = json_schema_of({"steps": {"type": "array", "minItems": 1, "maxItems": 2}})
    assert fault_of({"steps": ["word"] * 3}, schema) == "`steps` has 3 items, and 2 is the most."
    assert fault_of({"steps": []}, schema) == "`steps` has 0 items, and 1 is the least."


def test_arguments_are_held_against_parameters() -> None:
    parameters = {
        "sql": Parameter(type=ValueType.STRING),
        "most": Parameter(type=ValueType.INTEGER, required=False),
        "way": Parameter(type=ValueType.STRING, choices=("up", "down")),
    }
    schema = json_schema_of_parameters(parameters)

    assert fault_of({"sql": "SELECT 1", "most": None, "way": "up"}, schema) is None
    fault = fault_of({"sqll": "SELECT 1", "way": "left"}, schema)
    assert fault is not None
    for words in ("`sql` is missing.", "There is no `sqll` here. Did you mean `sql`?", "`way` must be one of up, down"):
        assert words in fault
    assert (
        fault_of({"sql": "x", "way": "up", "else": 1}, json_schema_of_parameters(parameters, open_arguments=True))
        is None
    )


@pytest.mark.parametrize("text", ["2013-02-08T17:00", "2013-02-08T17:00:00Z", "2013-02-08 17:00:00-05:00"])
def test_times_may_be_local_or_have_an_offset(text: str) -> None:
    assert fault_of({"at": text}, json_schema_of({"at": "date-time"})) is None


@pytest.mark.parametrize("declared", ["arrray", 3, {"type": "arr"}, None])
def test_a_type_that_is_none_is_a_fault(declared: Any) -> None:
    with pytest.raises(SchemaFault):
        json_schema_of({"a": declared})


def test_the_type_of_a_schema_is_known_where_it_says_so() -> None:
    assert type_of("money") is ValueType.MONEY
    assert type_of({"type": "array"}) is ValueType.ARRAY
    assert type_of({"type": ["string", "null"]}) is ValueType.ANY
    assert type_of({}) is ValueType.ANY


@pytest.mark.parametrize(("source", "target"), list(product(ValueType, ValueType)))
def test_types_fit_themselves_and_what_is_open(source: ValueType, target: ValueType) -> None:
    expected = {
        (ValueType.INTEGER, ValueType.NUMBER),
        (ValueType.OBJECT, ValueType.MONEY),
        *product((ValueType.DATE, ValueType.DATE_TIME, ValueType.MONEY), (ValueType.STRING,)),
        *product((ValueType.STRING,), (ValueType.DATE, ValueType.DATE_TIME, ValueType.MONEY)),
    }
    same_or_open = source == target or ValueType.ANY in (source, target)

    assert fits(source, target) is (same_or_open or (source, target) in expected)


_LEAF = st.one_of(
    st.just({}),
    st.sampled_from([{"type": kind} for kind in ("string", "integer", "number", "boolean", "array", "object", "null")]),
    st.sampled_from([{"type": "string", "format": "date"}, {"format": "date-time"}, {"enum": [1]}, {"minimum": 3}]),
    st.sampled_from([{"type": ["string", "null"]}, {"type": ["integer", "array", "boolean"]}]),
    st.sampled_from([{"enum": ["a", "b"]}, {"enum": ["a", 1, None]}, {"type": "string", "enum": ["2013-02-08"]}]),
)
_SCHEMAS = st.recursive(
    _LEAF,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)},
            optional={
                "type": st.just("object"),
                "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
                "additionalProperties": st.booleans(),
            },
        ),
    ),
    max_leaves=5,
)
_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(["a", "2013-02-08"])
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
)


@settings(max_examples=400, deadline=None)
@given(_VALUES, _SCHEMAS)
def test_what_plain_types_take_the_library_takes_and_the_other_way_round(value: Any, schema: dict[str, Any]) -> None:
    fits = Draft202012Validator(schema, format_checker=_formats()).is_valid(value)

    assert (fault_of(value, schema) is None) is fits


_WORDS = st.sampled_from(["string", "null", "arr", "a"]) | st.none() | st.integers() | st.booleans()
_ANYTHING = st.recursive(
    _WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "format", "enum", "required", "anyOf", "properties", "items", "additionalProperties", "a"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["type", "enum", "required", "anyOf", "properties", "items"]), _ANYTHING, min_size=1
    )
)
def test_what_is_taken_for_a_schema_at_a_glance_is_one_for_the_library(declared: dict[str, Any]) -> None:
    if _surely_usable(declared):
        Draft202012Validator.check_schema(declared)


@pytest.mark.parametrize(
    "declared",
    [{"type": ["string", "null"]}, {"type": "array", "items": {"type": "object"}}, {"enum": ["hour", "day"]}],
)
def test_a_plain_schema_is_known_at_a_glance(declared: dict[str, Any]) -> None:
    assert _surely_usable(declared)
