"""Is this plan sound? Everything that can be known before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from contracts import Effect, Json, Parameter, PlanDefinition, Step, ValueType
from runtime.bindings import only_binding
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.check_arguments import argument_faults, call_faults, type_of_value
from runtime.engine.check_groups import group_faults
from runtime.engine.check_names import PROBLEM_SCHEMA, GivesOf, Names, inside, names_of, near, one_output_of
from runtime.engine.check_shape import shape_faults
from runtime.engine.check_tools import tool_faults
from runtime.engine.check_values import binding_faults, condition_faults
from runtime.engine.fault import Path, PlanFault
from runtime.engine.other_way import PROBLEM, other_ways
from runtime.schema import SchemaFault, field_schema

__all__ = ["PlanFault", "check_plan"]


def check_plan(
    plan: PlanDefinition,
    *,
    specs: Mapping[str, CapabilitySpec],
    gives_of: GivesOf,
    skills: Mapping[str, Mapping[str, Parameter]] | None = None,
    employees: Collection[str] | None = None,
    merging: Collection[str] = (),
) -> list[PlanFault]:
    """Return every fault of the plan; an empty list means that it can run.

    Args:
        plan: the plan, contents of files already in the place of their names.
        specs: the capabilities there are.
        gives_of: the declared output fields of one run of a step.
        skills: the skills there are, with the parameters of their plans; None leaves them unchecked.
        employees: the employees there are; None leaves them unchecked.
        merging: the keys of the blackboard that several may write at the same time.
    """
    known = _Known(plan, specs, gives_of, skills, employees, merging)
    names = names_of(plan, gives_of)
    faults: list[PlanFault] = []
    for number, step in enumerate(plan.steps):
        faults += _step_faults(step, ("steps", number), names, known)
    faults += shape_faults(plan)
    for number, source in enumerate(plan.accept):
        faults += condition_faults(source, ("accept", number), names)
    for name, value in plan.gives.items():
        faults += binding_faults(value, ("gives", name), names)
    return faults


@dataclass(frozen=True)
class _Known:
    plan: PlanDefinition
    specs: Mapping[str, CapabilitySpec]
    gives_of: GivesOf
    skills: Mapping[str, Mapping[str, Parameter]] | None
    employees: Collection[str] | None
    merging: Collection[str]


def _step_faults(step: Step, path: Path, outer: Names, known: _Known) -> Iterator[PlanFault]:
    names = inside(outer, step)
    yield from _who_faults(step.by, path, known)
    yield from _work_faults(step, path, names, known)
    yield from _time_faults(step, path, names)
    yield from _judging_faults(step, path, names, known)
    yield from _effect_faults(step, path, known)
    yield from _way_back_faults(step, path, outer, known)
    yield from group_faults(step, path, known.merging)
    ids = frozenset(branch.id for branch in step.parallel)
    for number, branch in enumerate(step.parallel):
        here = names.beside(ids - {branch.id})
        yield from _step_faults(branch, (*path, "parallel", number), here, known)


def _who_faults(by: str | None, path: Path, known: _Known) -> Iterator[PlanFault]:
    if by is not None and known.employees is not None and by not in known.employees:
        yield PlanFault((*path, "by"), f"There is no employee `{by}`.", near(by, known.employees))


def _work_faults(step: Step, path: Path, names: Names, known: _Known) -> Iterator[PlanFault]:
    yield from _call_faults(step.use, step.skill, step.arguments, path=path, names=names, known=known)
    if step.order is not None:
        yield from binding_faults(step.order, (*path, "order"), names)
        yield from _must_be(ValueType.OBJECT, step.order, (*path, "order"), names)
    if step.plan is not None:
        yield from binding_faults(step.plan, (*path, "plan"), names)
        yield from _must_be(ValueType.ARRAY, step.plan, (*path, "plan"), names)
    for number, value in enumerate(step.inherit):
        yield from binding_faults(value, (*path, "inherit", number), names)
    if step.react is not None:
        yield from binding_faults(_words(step.react), (*path, "react"), names)
    if step.ask is not None:
        yield from binding_faults(_words(step.ask.text), (*path, "ask"), names)
    yield from tool_faults(step, path, known.specs, known.skills, names)
    for name in step.material:
        if name not in step.arguments:
            yield PlanFault((*path, "material", name), f"There is no argument `{name}`.", near(name, step.arguments))


def _call_faults(
    use: str | None,
    skill: str | None,
    arguments: Mapping[str, Json],
    *,
    path: Path,
    names: Names,
    known: _Known,
) -> Iterator[PlanFault]:
    if use is not None and use in known.specs:
        yield from call_faults(known.specs[use], arguments, path, names)
        return
    if skill is not None and known.skills is not None and skill in known.skills:
        yield from argument_faults(skill, known.skills[skill], arguments, path, names)
        return
    if use is not None:
        yield PlanFault((*path, "use"), f"There is no capability `{use}`.", near(use, known.specs), missing=use)
    if skill is not None and known.skills is not None:
        yield PlanFault((*path, "skill"), f"There is no skill `{skill}`.", near(skill, known.skills), missing=skill)
    yield from binding_faults(dict(arguments), (*path, "with"), names)


def _time_faults(step: Step, path: Path, names: Names) -> Iterator[PlanFault]:
    own = ("item", "index") if step.for_each is not None else ("index", step.id) if step.until is not None else ()
    outside = names.without(*own)  # both are judged once, before any repetition
    if step.for_each is not None:
        yield from binding_faults(step.for_each, (*path, "for_each"), outside)
        yield from _must_be(ValueType.ARRAY, step.for_each, (*path, "for_each"), outside)
    if step.when is not None:
        yield from condition_faults(step.when, (*path, "when"), outside)


def _must_be(wanted: ValueType, text: str, path: Path, names: Names) -> Iterator[PlanFault]:
    if only_binding(text) is None:
        yield PlanFault(path, f"`{text}` must be one binding.", "Write for example `{{ step.field }}`.")
        return
    found = type_of_value(text, names)
    if found not in (wanted, ValueType.ANY):
        words = "a list" if wanted is ValueType.ARRAY else f"an {wanted.value}"
        yield PlanFault(path, f"`{text.strip()}` must be {words}, but it is {found.value}.")


def _judging_faults(step: Step, path: Path, names: Names, known: _Known) -> Iterator[PlanFault]:
    own = one_output_of(step, known.gives_of)
    names = names.with_({step.id: own})
    for number, source in enumerate(step.accept):
        yield from condition_faults(source, (*path, "accept", number), names, own)
    for number, rule in enumerate(step.plausible):
        yield from condition_faults(rule.check, (*path, "plausible", number, "check"), names, own)
    if step.until is not None:
        yield from condition_faults(step.until.check, (*path, "until", "check"), names, own)
    yield from _gives_faults(step, path, known)


def _gives_faults(step: Step, path: Path, known: _Known) -> Iterator[PlanFault]:
    spec = known.specs.get(step.use or "")
    given = spec.gives if spec else {}
    for name, declared in step.gives.items():
        place = (*path, "gives", name)
        if given and name not in given:
            yield PlanFault(place, f"`{step.use}` never gives `{name}`.", f"It gives: {', '.join(given)}.")
            continue
        try:
            field_schema(declared)
        except SchemaFault as fault:
            yield PlanFault(place, str(fault))


def _effect_faults(step: Step, path: Path, known: _Known) -> Iterator[PlanFault]:
    spec = known.specs.get(step.use or "")
    if step.effect is None or spec is None:
        return
    strength = list(Effect).index
    if strength(step.effect) < strength(spec.effect):
        yield PlanFault(
            (*path, "effect"),
            f"`{spec.name}` is {spec.effect.value}; a step cannot make it {step.effect.value}.",
            "Leave `effect` out; it may only be made stronger.",
        )


def _way_back_faults(step: Step, path: Path, outer: Names, known: _Known) -> Iterator[PlanFault]:
    if step.compensate is not None:
        own = {step.id: one_output_of(step, known.gives_of)}
        names = inside(outer, step).with_(own)
        yield from _call_faults(
            step.compensate.use,
            None,
            step.compensate.arguments,
            path=(*path, "compensate"),
            names=names,
            known=known,
        )
    names, place = inside(outer, step), path
    for said, form in other_ways(step):
        place = (*place, "otherwise")
        if said.when is not None:
            yield from condition_faults(said.when, (*place, "when"), names.with_({PROBLEM: PROBLEM_SCHEMA}))
        if not said.skip:
            yield from _who_faults(said.by, place, known)
            yield from _call_faults(form.use, form.skill, form.arguments, path=place, names=names, known=known)


def _words(text: str | dict[str, str]) -> Json:
    return text if isinstance(text, str) else dict(text)
