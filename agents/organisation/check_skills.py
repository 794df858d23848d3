"""Skills: their plans are sound, and those who carry them out may do what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agents.employee.parameters import passed_to
from agents.organisation.check_options import options_faults
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read, SkillDraft
from agents.organisation.fault import Fault
from agents.organisation.hints import capability_hint
from agents.organisation.org_file import EmployeeEntry
from agents.organisation.tree import Tree
from agents.organisation.yaml_source import Path
from contracts import ALL_SKILLS, Budget, Json, Parameter, PlanDefinition, Step, StepMode, Tier
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.certain import certain_steps_of
from runtime.engine.check import check_plan
from runtime.engine.check_shares import share_faults
from runtime.engine.check_tools import named_skills
from runtime.engine.other_way import other_ways

_NOT_IN_A_SLOT = {
    "by": "hands work on", "skill": "hands work on", "order": "hands work on", "plan": "hands work on",
    "ask": "asks a person", "skills": "has skills done",
}  # fmt: skip
"""What only a cognitive skill does, by the field that says it."""


def skill_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with the skills."""
    tree = Tree.of(draft)
    parameters = {name: passed_to(other.plan.value) for name, other in draft.skills.items() if other.plan}
    steps = [step for skill in draft.skills.values() if skill.plan for step in skill.plan.value.all_steps()]
    called = {name for step in steps for name in (step.skill, *named_skills(step))}
    for skill in draft.skills.values():
        yield from _use_faults(draft, skill, tree, called)
        if skill.plan is None:
            continue
        yield from _plan_faults(draft, skill.plan, parameters)
        for step, path in walk(skill.plan.value):
            yield from _step_faults(draft, _Place(skill, skill.plan, step, path), tree)
        yield from options_faults(draft, skill, tree)
        yield from _budget_faults(draft, skill)


def walk(plan: PlanDefinition) -> Iterator[tuple[Step, Path]]:
    """Yield every step, branches included, with its path."""
    waiting: list[tuple[Step, Path]] = [(step, ("steps", number)) for number, step in enumerate(plan.steps)]
    while waiting:
        step, path = waiting.pop(0)
        yield step, path
        waiting = [(branch, (*path, "parallel", number)) for number, branch in enumerate(step.parallel)] + waiting


def _use_faults(draft: Draft, skill: SkillDraft, tree: Tree, called: set[str | None]) -> Iterator[Fault]:
    if skill.header is None or draft.org is None:
        return
    if not tree.owners(skill.name) and skill.name not in called:
        yield skill.header.fault(("name",), f"No employee has the skill `{skill.name}`.", "Give it to one in org.yaml.")


def _plan_faults(
    draft: Draft, plan: Read[PlanDefinition], parameters: Mapping[str, Mapping[str, Parameter]]
) -> Iterator[Fault]:
    unread = {name for name, other in draft.skills.items() if other.plan is None}
    for fault in check_plan(
        plan.value,
        specs=draft.specs,
        gives_of=lambda step: gives_of(draft, step),
        skills=parameters,
        employees=draft.employees if draft.org else None,
        merging=[key for key, entry in draft.org.value.blackboard.items() if entry.merges] if draft.org else (),
    ):
        if fault.missing not in unread and fault.missing.partition(".")[0] not in draft.unread:
            dotted = "." in fault.missing  # which no name of a skill is
            hint = capability_hint(draft, fault.missing) if dotted else fault.hint
            yield plan.fault(fault.path, fault.message, hint)
    budget = draft.org.value.budget.budget() if draft.org else Budget()
    plans = {name: other.plan.value if other.plan else None for name, other in draft.skills.items()}
    for fault in share_faults(plan.value, budget=budget, plans=plans):
        yield plan.fault(fault.path, fault.message, fault.hint)


def _budget_faults(draft: Draft, skill: SkillDraft) -> Iterator[Fault]:
    """Yield that the organisation's budget cannot hold the skill's plan, which somebody has, whatever happens."""
    most = draft.org.value.budget.steps if draft.org else None
    if most is None or skill.plan is None or draft.org is None:
        return
    least = certain_steps_of(skill.name, lambda name: _plan_of(draft, name))
    if least > most:
        yield skill.plan.fault(
            ("steps",),
            f"The plan takes {least} steps whatever happens, and the organisation allows {most}.",
            "Raise `budget.steps` in org.yaml, or make the plan smaller.",
        )


def _plan_of(draft: Draft, skill: str) -> PlanDefinition | None:
    other = draft.skills.get(skill)
    return other.plan.value if other is not None and other.plan is not None else None


def gives_of(draft: Draft, step: Step, depth: int = 0) -> Mapping[str, Json] | None:
    """Return the declared output fields of one run of a step, or None when nobody declared them."""
    if step.mode is StepMode.ASK:
        return {"answer": "string", **step.gives}
    if step.order is not None or step.plan is not None:
        return dict(step.gives) or None
    if step.use is not None and step.use.partition(".")[0] in draft.unread:
        return None
    if step.use is not None and step.use in draft.specs:
        return {**draft.specs[step.use].gives, **step.gives} or None
    skill = draft.skills.get(step.skill or "")
    if step.gives or skill is None or skill.plan is None or depth > 20:
        return dict(step.gives) or None
    plan = skill.plan.value
    if plan.gives:
        return dict.fromkeys(plan.gives, "any")
    last = plan.steps[-1]
    return None if last.for_each is not None or last.parallel else gives_of(draft, last, depth + 1)


def _step_faults(draft: Draft, at: _Place, tree: Tree) -> Iterator[Fault]:
    """Yield what is wrong with a step, then what is wrong with the other ways to do it only."""
    told = set()
    for fault in _way_faults(draft, at, tree):
        told.add(fault.what)
        yield fault
    place = at
    for said, form in other_ways(at.step):
        place = replace(place, step=form, path=(*place.path, "otherwise"))
        if not said.skip:
            found = [fault for fault in _way_faults(draft, place, tree) if fault.what not in told]
            told.update(fault.what for fault in found)
            yield from found


def _way_faults(draft: Draft, at: _Place, tree: Tree) -> Iterator[Fault]:
    header = at.skill.header
    if header is not None:
        yield from _tier_faults(draft, at.plan, at.step, at.path, header.value.metadata.tier)
    yield from _right_faults(draft, at, tree)


def _tier_faults(draft: Draft, plan: Read[PlanDefinition], step: Step, path: Path, tier: Tier) -> Iterator[Fault]:
    if tier is Tier.EXECUTION:
        for named, does in _NOT_IN_A_SLOT.items():
            if getattr(step, named):
                what = f"`{step.id}` {does}; an execution skill runs in a slot and does not."
                yield plan.fault((*path, named), what, "Let a cognitive skill do that, and call this one.")
    for place, spec in _called(draft, step):
        if step.by is not None or spec.tier is tier or spec.any_tier:
            continue
        if tier is Tier.COGNITIVE:
            yield plan.fault(
                (*path, *place),
                f"`{spec.name}` belongs into a slot, and a cognitive skill has none.",
                f"Name with `by` the employee that does `{step.id}`, or make the skill `tier: execution`."
                if step.use
                else f"Let an employee below do `{step.id}` in an execution skill.",
            )
        else:
            yield plan.fault(
                (*path, *place),
                f"`{spec.name}` is cognitive, and this skill is of the execution tier.",
                "Use it in a cognitive skill.",
            )


def _called(draft: Draft, step: Step) -> Iterator[tuple[Path, CapabilitySpec]]:
    """Yield what the step calls, or lets a model call, with its place in the step."""
    named: list[tuple[Path, str]] = [] if step.use is None else [(("use",), step.use)]
    if step.react is not None:
        named += [(("tools", number), name) for number, name in enumerate(step.tools)]
        named += [(("must_call", n), name) for n, name in enumerate(step.must_call) if name not in step.tools]
    yield from ((place, draft.specs[name]) for place, name in named if name in draft.specs)


@dataclass(frozen=True)
class _Place:
    skill: SkillDraft
    plan: Read[PlanDefinition]
    step: Step
    path: Path


def _right_faults(draft: Draft, at: _Place, tree: Tree) -> Iterator[Fault]:
    """Yield steps whose employee does not report to whoever has the skill, or may not do what the step says."""
    if draft.org is None:
        return
    step = at.step
    if step.ask is not None and step.ask.who is not None:
        people = draft.org.value.people
        there = {person.id for person in people} | {group for person in people for group in person.groups}
        if step.ask.who not in there:
            what = f"There is no person or group `{step.ask.who}`."
            yield at.plan.fault((*at.path, "ask", "who"), what, nearest(step.ask.who, there))
    owners = tree.owners(at.skill.name)
    if step.by is None:
        for owner in owners:
            yield from _may(draft, at, owner)
            yield from _reach_faults(draft, at, owner)
        return
    doer = draft.employees.get(step.by)
    if doer is None:
        return
    for owner in owners:
        if not tree.is_below(step.by, owner.id):
            yield at.plan.fault(
                (*at.path, "by"),
                f"`{step.by}` does not report to `{owner.id}`, which has the skill `{at.skill.name}`.",
                _listed_below(owner),
            )
    yield from _may(draft, at, doer)


def _reach_faults(draft: Draft, at: _Place, owner: EmployeeEntry) -> Iterator[Fault]:
    """Yield skills for a model that nobody at or below whoever has the step can be given, or several could."""
    for field, number, name in _needed_skills(draft, at.step):
        place = (*at.path, field, number)
        if name == at.skill.name and field == "must_call":
            what = f"`{name}` has this step itself, and `skills: all` offers no skill to its own model."
            yield at.plan.fault(place, what, "Name another skill, or list the skills one by one.")
            continue
        able = [entry.id for entry in owner.everybody() if name in entry.skills]
        able = [owner.id] if owner.id in able else able
        if not able:
            what = f"Neither `{owner.id}`, which has the skill `{at.skill.name}`, nor anybody below has `{name}`."
            yield at.plan.fault(place, what, "Add it to the `skills` of one of them in org.yaml.")
        if len(able) > 1:
            names = " and ".join(f"`{each}`" for each in able)
            what = f"{names} both have the skill `{name}`, and a call names nobody."
            yield at.plan.fault(place, what, "Let a skill of its own name in `by` who does it, and offer that one.")


def _needed_skills(draft: Draft, step: Step) -> Iterator[tuple[str, int, str]]:
    """Yield the skills that the step's model has to be given: field, place in it, and name."""
    listed = (("skills", named_skills(step)), ("must_call", step.must_call if step.skills == ALL_SKILLS else ()))
    for field, names in listed:
        places = ((number, name) for number, name in enumerate(names) if name in draft.skills)
        yield from ((field, number, name) for number, name in places if name not in draft.specs)


def _may(draft: Draft, at: _Place, doer: EmployeeEntry) -> Iterator[Fault]:
    step = at.step
    for place, spec in _called(draft, step):
        everybodys = spec.name in draft.builtin and spec.tier is Tier.COGNITIVE
        if not everybodys and spec.name not in doer.can:
            yield at.plan.fault(
                (*at.path, *place), f"`{doer.id}` may not use `{spec.name}`.", "Add it to its `can` in org.yaml."
            )
    if step.by is not None and step.skill is not None and step.skill in draft.skills and step.skill not in doer.skills:
        hint = nearest(step.skill, doer.skills) or "Add it to its `skills` in org.yaml."
        yield at.plan.fault((*at.path, "skill"), f"`{doer.id}` does not have the skill `{step.skill}`.", hint)


def _listed_below(owner: EmployeeEntry) -> str:
    below = [entry.id for entry in owner.everybody()][1:]
    return f"Below it: {', '.join(below[:12])}{', …' if len(below) > 12 else ''}." if below else "Nobody reports to it."
