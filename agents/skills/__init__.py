"""Which of an employee's skills its model is shown, and in which words."""

from agents.skills.choosing import SkillChooser
from agents.skills.reach import RULE_VARIABLES, Reach, ShowRule
from agents.skills.routing import Routable, Shown, ShownSkill, SkillRouter, Why, index_of
from agents.skills.tools import SkillTools
from agents.skills.wording import line_of, tool_of

__all__ = [
    "RULE_VARIABLES",
    "Reach",
    "Routable",
    "ShowRule",
    "Shown",
    "ShownSkill",
    "SkillChooser",
    "SkillRouter",
    "SkillTools",
    "Why",
    "index_of",
    "line_of",
    "tool_of",
]
