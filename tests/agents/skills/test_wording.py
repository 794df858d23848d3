from __future__ import annotations

from pathlib import Path

from agents.organisation import Skill
from agents.skills import line_of, tool_of
from contracts import Parameter, PlanDefinition, Step, ValueType

PLAN = PlanDefinition(
    parameters={
        "at": Parameter(type=ValueType.DATE_TIME, description="what is known then"),
        "airport": Parameter(type=ValueType.STRING, description={"en": "Which one", "zh": "哪个"}, example="JFK"),
        "least": Parameter(type=ValueType.INTEGER, default=30),
    },
    steps=(Step(id="a", use="python"),),
)
SKILL = Skill(
    "explain-delays",
    "Explains delays.",
    PLAN,
    Path(),
    when_to_use="Flights\nare late.",
    when_not_to_use="They are off.",
)


def test_a_line_says_when_and_when_not() -> None:
    assert line_of(SKILL) == "- explain-delays: Explains delays. Use when: Flights are late. Not when: They are off."


def test_what_a_skill_does_not_say_is_left_out() -> None:
    assert line_of(Skill("a", "Does it.", PLAN, Path())) == "- a: Does it."


def test_a_tool_has_its_parameters_with_format_meaning_example_and_default() -> None:
    function = tool_of(SKILL, language="zh")["function"]

    assert function["name"] == "explain-delays"
    assert function["parameters"]["required"] == ["airport"]
    assert function["parameters"]["additionalProperties"] is False
    properties = function["parameters"]["properties"]
    assert properties["airport"] == {"type": "string", "description": "哪个", "examples": ["JFK"]}
    assert properties["least"] == {"type": "integer", "default": 30}
    assert properties["at"]["description"] == "what is known then"
    assert "date-time" in str(properties["at"])
