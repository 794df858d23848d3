from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.employee.planning.conclude import StateResult
from contracts import Json
from runtime.capabilities.port import CallContext, CallResult
from runtime.spoken_numbers import NumberInvented, numbers_in
from tests.agents.employee.staff import KNOWN_AT, order

pytestmark = pytest.mark.anyio
RESULT: Json = {
    "share": 0.317, "flights": 671, "cancelled": 213, "money": "1,250.50 USD", "day": "2013-02-08", "rows": [1] * 14,
    "late": -3.25, "none": None, "yes": True,
}  # fmt: skip

CONTEXT = CallContext(order=order(), step="conclude", key="k", attempt=1, now=KNOWN_AT)


async def said(text: str, result: Json = RESULT, goal: str = "Explain 4711") -> bool:
    context = replace(CONTEXT, order=order(objective=goal))
    try:
        given = await StateResult().call({"text": text, "reached": "yes", "result": result}, context)
    except NumberInvented:
        return False
    assert isinstance(given, CallResult)
    return given.output["text"] == text


@pytest.mark.parametrize(
    "text",
    [
        "213 of 671 flights were cancelled, 31.7 %, roughly 32 %.",
        "It cost 1,250.50 USD, or 1250.5 USD.",
        "On 2013-02-08 there were 14 rows.",
        "Three things, 2 options, 1 reason.",
        "They were 3.25 minutes early.",
        "About 4711: nothing.",
        "取消了213个航班，占31.7%。",
        "No numbers at all.",
        "",
    ],
)
async def test_numbers_of_the_result_may_be_said_as_people_say_them(text: str) -> None:
    assert await said(text)


@pytest.mark.parametrize(
    "text",
    ["214 flights.", "33 %.", "31.9 %.", "12,345 USD.", "On 2014-02-08.", "1250.7 USD.", "占45%。", "671.5 flights"],
)
async def test_a_number_that_stands_nowhere_is_refused(text: str) -> None:
    assert not await said(text)


async def test_a_result_of_nothing_holds_no_number() -> None:
    assert await said("Nothing came of it.", None)
    assert not await said("It was 17 %.", None)


@pytest.mark.parametrize("odd", ["1e99999999999999999999", "7E-99999999999999999999", "9" * 50_000], ids=len)
async def test_numbers_beyond_reckoning_are_numbers_like_others(odd: str) -> None:
    assert not await said(f"It was {odd}.")
    assert await said("It was 17.", [odd, 17])
    assert await said(f"It was {odd}.", {"text": odd})


async def test_of_very_many_invented_numbers_a_few_are_named() -> None:
    text = " ".join(f"{number};" for number in range(10**6, 10**6 + 2_000))
    with pytest.raises(NumberInvented) as refused:
        await StateResult().call({"text": text, "reached": "yes", "result": list(range(20_000))}, CONTEXT)
    assert "1000004" in refused.value.message
    assert len(refused.value.message) < 300


@given(st.integers(11, 10**9) | st.floats(11, 10**6).map(lambda number: round(number, 3)))
def test_each_number_of_a_result_is_found_again(number: Any) -> None:
    import asyncio

    assert asyncio.run(said(f"It was {number:,}.", {"deep": [{"n": number}]}))


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30), st.lists))
def test_any_value_can_be_read(value: Any) -> None:
    assert list(numbers_in(value)) is not None
