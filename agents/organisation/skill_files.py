"""What `SKILL.md` and `plan.yaml` may say."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from agents.organisation.declared import Declared, one_or_more, seconds
from agents.skills.reach import Reach
from contracts import ALL_SKILLS, Money, Name, Tier


def _words(value: object) -> object:
    """Return the words of `one, two words, 三` as a list."""
    if isinstance(value, str):
        return [word.strip() for word in re.split(r"[,，、;；\n]", value) if word.strip()]
    return value


class SkillMetadata(Declared):
    """What this program adds to the open format."""

    when_to_use: str = ""
    """Situations it is for."""
    when_not_to_use: str = ""
    """Situations it is not for."""
    words: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    """Words of a goal that lead here, separated by commas."""
    tier: Tier = Tier.COGNITIVE
    """Where its own steps belong."""
    reach: Reach = Reach.EXTENDED
    """How readily a model is shown it."""
    memory: bool = False
    """Whether what is remembered stands in the prompts of its steps."""
    show_when: str = ""
    """Condition under which a model is shown a skill of the long tail."""


class SkillHeader(Declared):
    """Frontmatter of SKILL.md (https://agentskills.io/specification)."""

    name: Name
    """The same as the folder's."""
    description: str = Field(min_length=1, max_length=1_024)
    """What it does and when to use it."""
    license: str = ""
    """Of the skill."""
    compatibility: str = ""
    """What it needs around it."""
    allowed_tools: str | tuple[str, ...] = Field(default="", alias="allowed-tools")
    """Part of the open format; here `can` in org.yaml decides."""
    metadata: SkillMetadata = SkillMetadata()
    """What this program adds."""


def plan_fields(value: Any) -> Any:
    """Return the plan with its short forms written out: `ask: text`, `timeout: 30s`, `at: date-time`, one alone."""
    if not isinstance(value, dict):
        return value
    plan = dict(value)
    if isinstance(plan.get("parameters"), dict):
        plan["parameters"] = {
            name: {"type": given} if isinstance(given, str) else given for name, given in plan["parameters"].items()
        }
    if isinstance(plan.get("steps"), list):
        plan["steps"] = [_step_fields(step) for step in plan["steps"]]
    if "accept" in plan:
        plan["accept"] = one_or_more(plan["accept"])
    return plan


def _step_fields(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    step = dict(value)
    if "timeout" in step:
        step["timeout_s"] = _seconds_or_as_is(step.pop("timeout"))
    ask = step.get("ask")
    if isinstance(ask, str):
        step["ask"] = {"text": ask}
    elif isinstance(ask, dict) and "within" in ask:
        step["ask"] = {**ask, "within_s": _seconds_or_as_is(ask["within"])}
        del step["ask"]["within"]
    for name in ("after", "accept", "must_call", "tools", "skills", "inherit"):
        if name in step and not (name == "skills" and step[name] == ALL_SKILLS):
            step[name] = one_or_more(step[name])
    if isinstance(step.get("budget"), dict):
        step["budget"] = _budget_fields(step["budget"])
    if isinstance(step.get("parallel"), list):
        step["parallel"] = [_step_fields(branch) for branch in step["parallel"]]
    return step


def _budget_fields(given: dict[Any, Any]) -> dict[Any, Any]:
    """Return a budget with its short forms written out: `seconds: 5min`, `money: 2 USD`."""
    budget = dict(given)
    if "seconds" in budget:
        budget["seconds"] = _seconds_or_as_is(budget["seconds"])
    if isinstance(budget.get("money"), str):
        budget["money"] = _money_or_as_is(budget["money"])
    return budget


def _money_or_as_is(text: str) -> Any:
    try:
        return Money.parse(text)
    except ValueError:
        return text


def _seconds_or_as_is(value: Any) -> Any:
    try:
        return seconds(value)
    except ValueError:
        return value
