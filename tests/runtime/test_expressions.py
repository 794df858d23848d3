from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import ValueType
from runtime.expressions import (
    ExpressionFailed,
    ExpressionFault,
    compile_condition,
    compile_expression,
    names_in,
)

ANY = ValueType.ANY
TYPES = {"value": ValueType.NUMBER, "text": ValueType.STRING, "flag": ValueType.BOOLEAN, "m": ANY}


def evaluate(source: str, **values: Any) -> Any:
    return compile_expression(source, dict.fromkeys(values, ANY)).evaluate(values)


@pytest.mark.parametrize(
    ("source", "line", "column", "words"),
    [
        ("valeu > 1", 1, 1, "There is no `valeu` here. Did you mean `value`?"),
        ("value > 1 && zz.a.b", 1, 14, "There is no `zz` here."),
        ("value >", 1, 8, "The expression ends too early."),
        ("text + 1", 1, 6, "`+` does not work on text and a whole number."),
        ("value = 1", 1, 7, "A single = is no comparison; write ==."),
        ("value > 1 and flag", 1, 11, "Write && for and."),
        ("value > 1 or flag", 1, 11, "Write || for or."),
        ("nosuch(1)", 1, 1, "There is no function `nosuch`."),
        ("has(zz.a)", 1, 5, "There is no `zz` here."),
        ("value ? 1 : 'x'", 1, 7, "needs a condition before the question mark"),
        ("é > 1", 1, 1, "`é` cannot stand in an expression."),
        ("\n zz > 1", 2, 2, "There is no `zz` here."),
        ("", 1, 1, "The expression ends too early."),
        ("[" * 300, 1, 1, ""),
        ("1 + " * 2_000 + "1", 1, 1, "4000 are the limit."),
    ],
)
def test_a_fault_is_told_in_plain_words_with_its_place(source: str, line: int, column: int, words: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        compile_expression(source, TYPES)

    assert words in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("m.zz", "there is no field `zz`."),
        ("m.none > 1", "`>` does not work on null (missing) and a whole number."),
        ("m.one + 1.5", "Write double(…) around the whole number."),
        ("m.list[5]", "there is no item 5, the list has 3 (counted from 0)."),
        ("1 / 0 == 1", "it divides by zero."),
        ("m.big > 1", "is too large; whole numbers go up to 2^63 - 1."),
        ("9223372036854775807 + m.one > 1", "a number gets too large"),
        ("m.one ? 1 : 2", "a condition inside is neither true nor false."),
        ("m.list.all(x, x.a)", "a field is read from something that has no fields."),
        ("m.one.matches('a')", ""),
        ("'a'.matches('[')", "invalid regular expression"),
        ("gone > 1", "`gone` has no value."),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_and_never_a_text(source: str, words: str) -> None:
    values = {"m": {"one": 1, "none": None, "list": [1, 2, 3], "big": 2**70}}

    with pytest.raises(ExpressionFailed) as caught:
        compile_expression(source, {"m": ANY, "gone": ANY}).evaluate(values)

    assert words in caught.value.message


def test_a_text_that_looks_like_an_error_is_a_text() -> None:
    assert evaluate("m.s", m={"s": "NOT_FOUND: Key not found"}) == "NOT_FOUND: Key not found"


def test_a_condition_must_be_able_to_be_true_or_false() -> None:
    with pytest.raises(ExpressionFault, match="never true or false"):
        compile_condition("text + 'x'", TYPES)


def test_a_condition_that_gives_a_number_is_no_answer() -> None:
    with pytest.raises(ExpressionFailed, match="must be true or false, but it is 1"):
        compile_condition("m.one", TYPES).holds({"m": {"one": 1}})


@pytest.mark.parametrize("value", [1, 1.5, 0.1, -3])
def test_whole_and_decimal_numbers_compare(value: float) -> None:
    assert compile_condition("value > 1", TYPES).holds({"value": value}) is (value > 1)


def test_values_that_an_expression_does_not_read_do_no_harm() -> None:
    assert evaluate("m.one == 1 && has(m.deep.a)", m={"one": 1, "big": 2**70, "deep": {"a": 1, "big": 2**70}}) is True


def test_results_are_json() -> None:
    assert evaluate("{'t': timestamp('2013-02-08T17:00:00Z'), 'd': duration('90s'), 'b': b'x'}") == {
        "t": "2013-02-08T17:00:00+00:00",
        "d": 90.0,
        "b": "x",
    }


def test_names_are_found_with_the_fields_that_are_read() -> None:
    source = (
        "a.b.c > 1 && a.b['k'].c == 1 && size(z.q) > 1 && m.l.all(x, x.q > y.t) && has(w.v) && [1].exists(i, i == k)"
    )

    assert set(names_in(source)) == {
        ("a", "b", "c"),
        ("a", "b"),
        ("z", "q"),
        ("m", "l"),
        ("y", "t"),
        ("w", "v"),
        ("k",),
    }


def test_more_names_than_the_checker_tells_at_once_are_found() -> None:
    assert len(names_in(" && ".join(f"v{number}.x > 1" for number in range(120)))) == 120


def test_a_compiled_expression_is_kept() -> None:
    assert compile_expression("value > 7", TYPES) is compile_expression("value > 7", dict(TYPES))


@given(st.text(max_size=40))
def test_no_text_does_anything_but_compile_or_fault(source: str) -> None:
    try:
        compile_expression(source, TYPES)
    except ExpressionFault as fault:
        assert fault.message
