"""Values in the words of a model are held against the text that they are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.values import Source, entities_of

TEXT = (
    "On 2013-02-08T17:00 flight EWR-204 of order/01J9ZC3K4T5V6W7X8Y9Z0A1B2C left with 1,234 bags (12.50 % more), rows "
    "[100,200,300]; crew 3 个; asked by anna@example.org; weight 5 kg; hash "
    "3fa4b0c8d2e1f60718293a4b5c6d7e8f00112233445566778899aabbccddeeff."
)


@pytest.mark.parametrize(
    "words",
    [
        "EWR-204 left on 2013-02-08 at 17:00.",
        "1234 bags, 12.5 % more",
        "row 200 and row 300",
        "order/01J9ZC3K4T5V6W7X8Y9Z0A1B2C, anna@example.org",
        "机组 3 个",
        "it weighs 5kg",
        "1. the bags\n2. the crew",
        "Nothing concrete at all.",
    ],
)
def test_what_stands_in_the_text_in_any_writing_is_no_invention(words: str) -> None:
    assert Source(TEXT).lacks(words) == ()


@pytest.mark.parametrize(
    ("words", "invented"),
    [
        ("EWR-205 left", "EWR-205"),
        ("WR-204 left", "WR-204"),
        ("about 1,200 bags", "1,200"),
        ("12.6 % more", "12.6"),
        ("7 crews", "7"),
        ("hash 3fa4b0c8d2e1f607", "3fa4b0c8d2e1f607"),
        ("order/01J9ZC3K4T5V6W7X8Y9Z0A1B2D", "01J9ZC3K4T5V6W7X8Y9Z0A1B2D"),
        ("ask ann@example.org", "ann@example.org"),
        ("机组 9 个", "9"),
        ("it weighs 6kg", "6"),
    ],
)
def test_what_does_not_is_named(words: str, invented: str) -> None:
    assert Source(TEXT).lacks(words) == (invented,)


@given(st.text(alphabet="ab1209 ,.-/:@\n九", max_size=60))
def test_a_text_invents_nothing_of_itself(text: str) -> None:
    assert Source(text).lacks(text) == ()


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30), st.integers(0, 10**9))
def test_a_number_is_found_exactly_when_it_is_there(numbers: list[int], asked: int) -> None:
    source = Source(f"rows: {numbers}")

    assert source.lacks(f"it is {asked}") == (() if asked in numbers else (str(asked),))


@pytest.mark.parametrize(("value", "there"), [("Anna", False), ("Annabel", True), ("王伟", True), ("12", False)])
def test_a_value_stands_there_only_as_a_whole_word(value: str, there: bool) -> None:
    assert Source("Annabel和王伟 took 120").has(value) is there


def test_entities_are_told_by_kind_and_bounded() -> None:
    found = entities_of(TEXT, most=2)

    assert found["mails"] == ("anna@example.org",)
    assert "EWR-204" in found["ids"] and len(found["ids"]) == 2
    assert entities_of("nothing", most=2) == {}


@pytest.mark.parametrize("text", ["a" * 1_000_000, "a/" * 200_000, "x@" * 200_000, "1," * 100_000, "\n" * 500_000])
def test_texts_that_look_like_values_all_the_way_are_gone_through_once(text: str) -> None:
    found = entities_of(text, most=3)  # an expression that goes back and forth would not end here

    assert all(len(named) <= 3 for named in found.values())
    assert Source(text).lacks("EWR-204") == ("EWR-204",)
