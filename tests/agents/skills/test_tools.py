"""Skills as tools: whole in their words, and the same object each time."""

from __future__ import annotations

from typing import Any

from agents.skills import SkillTools
from contracts import PlanDefinition
from tests.agents.employee.staff import FakeSkill

STEP = {"id": "look", "use": "look"}


def a_skill(name: str, words: str, **more: Any) -> FakeSkill:
    parameters = {"day": {"type": "date"}, "airport": {"type": "string", "description": {"en": "Where", "zh": "哪里"}}}
    plan = PlanDefinition.model_validate({"parameters": parameters, "steps": [STEP]})
    return FakeSkill(name, plan, description=words, **more)


def test_a_tool_says_when_to_use_it_and_what_it_takes() -> None:
    skill = a_skill("count", "Counts flights.", when_to_use="Numbers are asked for.", when_not_to_use="Never at night.")

    tool = SkillTools({"count": skill}).tool("count", language="zh")

    assert (tool.name, tool.kind) == ("count", "skill")
    assert tool.description == "Counts flights. Use when: Numbers are asked for. Not when: Never at night."
    assert tool.schema is not None
    assert tool.schema["required"] == ["airport"]  # the day follows from the moment
    assert tool.schema["properties"]["airport"]["description"] == "哪里"  # type: ignore[index, call-overload]


def test_a_tool_is_the_same_object_each_time_so_that_what_was_made_of_it_is_known_again() -> None:
    offer = SkillTools({"count": a_skill("count", "Counts.")})

    assert offer.tool("count", language="en") is offer.tool("count", language="en")
    assert offer.tool("count", language="en") is not offer.tool("count", language="zh")
