"""Skills as tools of a model, whose calls become orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agents.employee.parameters import passed_to
from agents.skills.routing import Routable
from agents.skills.telling import told_by
from agents.skills.wording import tool_of
from contracts import Json, Name
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.react.offer import SKILL


class SkillTools:
    """The skills of one organisation in the form in which models call them."""

    def __init__(self, skills: Mapping[Name, Routable]) -> None:
        """Take over all of them, by name."""
        self._skills = skills
        self._tools: dict[tuple[Name, str], CapabilitySpec] = {}

    def tool(self, skill: Name, *, language: str) -> CapabilitySpec:
        """Return the skill as a tool: the same object each time, by which what was made of it is known again.

        Raises:
            KeyError: there is no skill of that name.
        """
        known = self._tools.get((skill, language))
        if known is None:
            known = self._tools[skill, language] = _tool(self._skills[skill], language)
        return known

    def told(self, skill: Name, output: Json) -> str | None:
        """Return what the skill gave in the words of its template; None where it has none that this fits."""
        template = self._skills[skill].result
        return told_by(template, f"{skill}/result.md.j2", output) if template else None


def _tool(skill: Routable, language: str) -> CapabilitySpec:
    told = tool_of(skill, language=language)["function"]
    return CapabilitySpec(
        name=skill.name,
        kind=SKILL,
        description=told["description"],
        parameters=passed_to(skill.plan),
        gives={},
        schema=cast("Mapping[str, Json]", told["parameters"]),
    )
