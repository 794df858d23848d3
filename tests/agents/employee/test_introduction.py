from __future__ import annotations

import pytest

from agents.employee.introduction import Introduction
from runtime.context.blocks import About
from tests.agents.employee.staff import department, order

pytestmark = pytest.mark.anyio


async def test_a_model_is_told_as_whom_it_works_and_in_which_language() -> None:
    (part,) = await Introduction(department()).parts(About(order("desk"), "think", "Think.", ()))

    assert part.pinned and part.text == "You work as desk (desk) of airports. Words for people are in `zh`."
