"""Skills as tools: whole in their words, and the same object each time."""

from __future__ import annotations

from typing import Any

import pytest

from agents.skills import SkillTools
from contracts import Json, PlanDefinition
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


def test_what_a_skill_gave_is_told_by_its_template_and_not_at_all_where_that_does_not_fit() -> None:
    lines = "{% for each in rows %}\n- {{ each.place }}: {{ each.n }}\n{% endfor %}\n{{ result.rows | length }} in all"
    tools = SkillTools({"count": a_skill("count", "Counts.", result=lines), "sum": a_skill("sum", "Sums.")})

    rows: list[Json] = [{"place": "gate", "n": 3}, {"place": "门", "n": None}]
    assert tools.told("count", {"rows": rows}) == "- gate: 3\n- 门: None\n2 in all"
    assert tools.told("count", {"lines": 3}) is None
    assert tools.told("sum", {"rows": rows}) is None


@pytest.mark.parametrize(
    "template", ["{{ rows.__class__.__mro__ }}", "{{ ''.__class__ }}", "{% include '/etc/passwd' %}"]
)
def test_a_template_reaches_nothing_but_the_result(template: str) -> None:
    tools = SkillTools({"count": a_skill("count", "Counts.", result=template)})

    assert tools.told("count", {"rows": [1]}) is None


@pytest.mark.parametrize(
    "template", ["{% macro again(x) %}{{ again(x) }}{% endmacro %}{{ again(1) }}", "{{ 'row ' * (9 ** 16) }}"]
)
def test_a_template_that_does_not_end_leaves_the_data(template: str) -> None:
    tools = SkillTools({"count": a_skill("count", "Counts.", result=template)})

    assert tools.told("count", {"rows": [1]}) is None
