"""Policies as a model is told them: those that cover what it may call, as far as there is room."""

from __future__ import annotations

import pytest

from governance.policies import Policy, ToldPolicies
from runtime.context.blocks import About
from runtime.settings.context import ContextSettings
from tests.agents.employee.staff import order

pytestmark = pytest.mark.anyio


def policies(count: int = 2) -> list[Policy]:
    money = Policy("money", {"en": "Nobody pays more than 10.", "zh": "不得超过十元。"}, "true", ("desk.*",))
    return [money, *(Policy(f"other-{n}", f"Rule {n} holds.", "true", ("till.*",)) for n in range(count))]


async def texts(told: ToldPolicies, *uses: str) -> list[str]:
    return [part.text for part in await told.parts(About(order(), "think", "Think.", uses))]


async def test_those_that_cover_what_may_be_called_are_told_in_the_language_of_the_order() -> None:
    assert await texts(ToldPolicies(policies(), ContextSettings()), "desk.pay") == ["Rule money: 不得超过十元。"]


async def test_what_there_is_no_room_for_is_counted() -> None:
    told = await texts(ToldPolicies(policies(9), ContextSettings(policy_chars=60)), "till.open")

    assert told[:2] == ["Rule other-0: Rule 0 holds.", "Rule other-1: Rule 1 holds."]
    assert told[2].startswith("7 more rules hold;")
