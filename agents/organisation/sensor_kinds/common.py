"""What the files of all kinds of sensors may say, and what is checked of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TypeVar

from pydantic import Field

from agents.cognition.sense.definition import Raise
from agents.cognition.sense.kinds import AnySensor
from agents.employee.parameters import passed_to
from agents.organisation.conditions import binding_fault
from agents.organisation.declared import Declared, nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from agents.organisation.yaml_source import Path
from contracts import Json, Name, Severity, Text
from runtime.bindings import texts_of

S = TypeVar("S", bound=AnySensor)
NOTHING = "nothing"
"""What a sensor says that its work advances where it looks after the organisation itself."""


class RaiseEntry(Declared):
    """The goal that a signal raises."""

    goal: str = Field(min_length=1)
    """In words; bindings name bucket, dimensions, value, n, metric, sensor and at."""
    skill: Name | None = None
    """The skill; absent, the goal's words decide."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Values for the plan's parameters."""
    advances: Name | None = None
    """The goal or metric that the work brings forward, or `nothing` for what looks after the organisation itself."""

    def goal_of(self, usually: Name | None) -> Raise:
        """Return it as sensors take it; `usually` is what it advances where the file says nothing."""
        advances = self.advances or usually
        return Raise(self.goal, self.skill, self.arguments, None if advances == NOTHING else advances)


class SensorFile(Declared, ABC):
    """What every sensor may say."""

    title: Text = ""
    """Its name for people."""
    severity: Severity = Severity.MEDIUM
    """How much it matters."""
    raises: RaiseEntry | None = None
    """What follows."""

    @abstractmethod
    def definition(self, name: Name) -> AnySensor:
        """Return it as sensors take it."""

    def raised(self, usually: Name | None = None) -> Raise | None:
        """Return the goal that its signals raise; `usually` is what it advances where the file says nothing."""
        return self.raises.goal_of(usually) if self.raises else None


def raise_faults(draft: Draft, sensor: Read[S], there: set[str]) -> Iterator[Fault]:
    """Yield what is wrong with the goal that a sensor raises; `there` is what its bindings may name."""
    raises = sensor.value.raises
    if raises is None:
        return
    places: list[tuple[Path, object]] = [(("raises", "goal"), raises.goal)]
    places += [(("raises", "with", name), value) for name, value in raises.parameters.items()]
    for path, value in places:
        for text in texts_of(value):  # type: ignore[arg-type]
            yield from binding_fault(sensor, path, text, there)
    yield from _skill_faults(draft, sensor, raises)
    there = {*(draft.org.value.goals if draft.org is not None else ()), *draft.metrics}
    said = ("raises", "advances") in sensor.source.lines
    if said and draft.org is not None and raises.advances is not None and raises.advances not in there:
        hint = nearest(raises.advances, there) or "Name it under `goals` in org.yaml."
        yield sensor.fault(("raises", "advances"), f"There is no goal or metric `{raises.advances}`.", hint)


def advance_faults(draft: Draft, sensor: Read[S]) -> Iterator[Fault]:
    """Yield that a sensor which watches no metric does not say what its work is good for."""
    raises = sensor.value.raises
    if raises is None or raises.advances is not None or ("raises", "advances") in sensor.source.lines:
        return
    goals = sorted(draft.org.value.goals) if draft.org is not None else []
    there = f"There is: {', '.join([*goals, *sorted(draft.metrics), NOTHING])}."
    yield sensor.fault(("raises",), "`advances` is missing: which goal or metric does this work bring forward?", there)


def _skill_faults(draft: Draft, sensor: Read[S], raises: Raise) -> Iterator[Fault]:
    if raises.skill is None:
        return
    skill = draft.skills.get(raises.skill)
    if skill is None:
        hint = nearest(raises.skill, draft.skills)
        yield sensor.fault(("raises", "skill"), f"There is no skill `{raises.skill}`.", hint)
        return
    if skill.plan is None:
        return
    parameters = passed_to(skill.plan.value)
    for name in raises.parameters:
        if name not in parameters:
            what = f"The skill `{skill.name}` has no parameter `{name}`."
            yield sensor.fault(("raises", "with", name), what, nearest(name, parameters))
    for name, parameter in parameters.items():
        if parameter.must_be_given and name not in raises.parameters:
            yield sensor.fault(("raises", "with"), f"The skill `{skill.name}` needs `{name}` ({parameter.type.value}).")
