"""Numbers in words are numbers: none gets past the check by being spelled."""

from __future__ import annotations

from decimal import Decimal

import pytest

from contracts import Json
from runtime.number_words import spelled_in
from runtime.spoken_numbers import NumberInvented, invented_in, require_known

RESULT: Json = {"share": 0.317, "n": 1_200, "period": "2013-11-25", "usual": {"value": 0.01}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("thirty-two percent", [32]),
        ("one hundred and five flights", [105]),
        ("two million three hundred thousand", [2_300_000]),
        ("Seventy of them", [70]),
        ("5 million, 10 thousand, 3万", [5_000_000, 10_000, 30_000]),
        ("百分之九十", [90]),
        ("一千二百，两千零五，三亿五千万", [1_200, 2_005, 350_000_000]),
        ("二〇一三年十一月二十五日", [2013, 11, 25]),
        ("Ⅻ and ½", [12, Decimal("0.5")]),
        ("hundreds of flights, someone often, a million thanks, tenth, weight", []),
        ("万一，千万不要，十分，一样", []),
    ],
)
def test_what_is_spelled_is_read(text: str, values: list[Decimal | int]) -> None:
    assert list(spelled_in(text)) == values


@pytest.mark.parametrize("text", ["thirty-two percent", "one thousand two hundred", "一千二百", "twelve hundred"])
def test_a_number_of_the_result_may_be_spelled(text: str) -> None:
    require_known(text, RESULT)


@pytest.mark.parametrize("text", ["ninety percent", "5 million", "百分之九十", "一千三百", "Ⅻ of them", "½ of them"])
def test_a_spelled_number_that_stands_nowhere_is_invented(text: str) -> None:
    with pytest.raises(NumberInvented):
        require_known(text, RESULT)


def test_small_numbers_count_things_and_a_spelled_one_is_known_where_it_was_said() -> None:
    assert invented_in("two options, ten reasons, 三个方案", RESULT) == []
    assert invented_in("Forty-foot containers", "Containers of forty feet") == []


@pytest.mark.parametrize(
    "text", ["9" * 50_000, "一" * 50_000 + "〇", "one hundred " * 5_000, "1," * 50_000, "〇" * 50_000]
)
def test_a_text_of_nothing_but_numbers_is_read_in_no_time(text: str) -> None:
    assert len(list(spelled_in(text))) <= 5_000
