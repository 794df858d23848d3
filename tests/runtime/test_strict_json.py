"""What comes in as JSON holds numbers that can be worked with, or is refused in plain words."""

from __future__ import annotations

import pytest

from runtime.strict_json import read_json


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1e400", "the number 1e400 is too large"),
        ('{"a": [1, -1e999]}', "the number -1e999 is too large"),
        ("NaN", "NaN is no value of JSON"),
        ("[-Infinity]", "-Infinity is no value of JSON"),
        ("9" * 5_000, "a whole number has 5,000 digits, and 4,000 is the most"),
    ],
)
def test_a_number_that_cannot_be_held_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        read_json(text)


def test_large_and_small_numbers_pass() -> None:
    assert read_json("[1e300, 1e-400, -0.0, 9007199254740993]") == [1e300, 0.0, -0.0, 9007199254740993]


def test_a_name_that_stands_twice_is_refused_where_that_is_asked_for() -> None:
    assert read_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(ValueError, match="'a' stands twice"):
        read_json('{"a": 1, "a": 2}', once=True)
