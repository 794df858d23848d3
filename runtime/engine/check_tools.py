"""Tools of a model, held against what there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from contracts import ALL_SKILLS, Parameter, Step
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check_arguments import type_faults
from runtime.engine.check_names import Names, near
from runtime.engine.fault import Path, PlanFault

Skills: TypeAlias = Mapping[str, Mapping[str, Parameter]]
"""Skill → the parameters of its plan."""


def tool_faults(
    step: Step, path: Path, specs: Mapping[str, CapabilitySpec], skills: Skills | None, names: Names
) -> Iterator[PlanFault]:
    """Yield tools that there are not, tools without a model, and arguments that a tool cannot be filled with.

    Args:
        skills: those there are; None leaves them unchecked.
    """
    for field, listed in (("tools", step.tools), ("must_call", step.must_call)):
        for number, name in enumerate(listed):
            if name not in specs and not (field == "must_call" and has_skill(step, name, skills)):
                yield _unknown_tool(step, field, name, (*path, field, number), specs=specs, skills=skills or {})
    yield from _skill_faults(step, path, specs, skills)
    if step.react is None:
        for field in ("tools", "skills"):
            if getattr(step, field):
                what = f"`{step.id}` has {field} and asks no model to use them."
                hint = "Say with `react` what a model is to do, or name one with"
                yield PlanFault((*path, field), what, f"{hint} `{'use' if field == 'tools' else 'skill'}`.")
        return
    if step.by is not None:
        what = f"Whoever has the skill reasons in `{step.id}` itself; `by` cannot name another."
        yield PlanFault(
            (*path, "by"), what, "Give the other employee a skill with this step, and name it with `skill`."
        )
    for spec in (specs[name] for name in dict.fromkeys(tools_of(step)) if name in specs):
        yield from _bound_faults(step, spec, path, names)
    for skill in named_skills(step):
        parameters = (skills or {}).get(skill, {})
        for name in step.arguments.keys() & parameters.keys():
            place, value = (*path, "with", name), step.arguments[name]
            yield from type_faults(skill, name, value, parameters[name], place=place, names=names)


def _unknown_tool(
    step: Step, field: str, name: str, place: Path, *, specs: Mapping[str, CapabilitySpec], skills: Skills
) -> PlanFault:  # fmt: skip
    if step.react is not None and name in skills:
        more = "; `must_call` may name it too" if field == "tools" else ""
        hint = f"Write it into the `skills` of `{step.id}`{more}."
        return PlanFault(place, f"`{name}` is a skill, and `{step.id}` does not offer it to its model.", hint)
    able = specs if field == "tools" else {*specs, *(skills if step.skills == ALL_SKILLS else step.skills)}
    return PlanFault(place, f"There is no capability `{name}`.", near(name, able), missing=name)


def named_skills(step: Step) -> Sequence[str]:
    """Return the skills that the step names for its model; none where it says `all`."""
    return () if step.skills == ALL_SKILLS else step.skills


def has_skill(step: Step, name: str, skills: Skills | None) -> bool:
    """Whether the step's model may have this skill done, as far as the step tells."""
    return name in step.skills or (step.skills == ALL_SKILLS and (skills is None or name in skills))


def _skill_faults(
    step: Step, path: Path, specs: Mapping[str, CapabilitySpec], skills: Skills | None
) -> Iterator[PlanFault]:  # fmt: skip
    for number, name in enumerate(named_skills(step)):
        place = (*path, "skills", number)
        if skills is not None and name not in skills:
            yield PlanFault(place, f"There is no skill `{name}`.", near(name, skills), missing=name)
        elif name in specs:
            yield _ambiguous(name, place)
    for field in ("tools", "must_call") if step.skills == ALL_SKILLS else ():
        for number, name in enumerate(getattr(step, field)):
            if name in specs and name in (skills or {}):
                yield _ambiguous(name, (*path, field, number))


def _ambiguous(name: str, place: Path) -> PlanFault:
    what = f"`{name}` is a skill and a capability, and a model could not tell them apart."
    return PlanFault(place, what, "Give the skill another name.")


def tools_of(step: Step) -> tuple[str, ...]:
    """Return the capabilities that a model may call in the step; none where it asks none."""
    return () if step.react is None else (*step.tools, *step.must_call)


def _bound_faults(step: Step, spec: CapabilitySpec, path: Path, names: Names) -> Iterator[PlanFault]:
    for name in step.arguments.keys() & spec.parameters.keys():
        place, value = (*path, "with", name), step.arguments[name]
        if name in spec.resources:
            what = f"`{name}` of `{spec.name}` takes the content of a file, which only a step with `use` fills in."
            yield PlanFault(place, what, "Give the step another name for what the model is to read.")
        else:
            yield from type_faults(spec.name, name, value, spec.parameters[name], place=place, names=names)
