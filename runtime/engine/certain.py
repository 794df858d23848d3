"""How many steps a plan takes whatever happens: what a budget has to hold before it is worth a beginning."""

from __future__ import annotations

from collections.abc import Callable

from contracts import Name, PlanDefinition, Step
from runtime.engine.check_shape import reads_into
from runtime.engine.graph import dependencies, order, rings


def certain_steps(plan: PlanDefinition, of_skill: Callable[[Name], int] = lambda skill: 1) -> int:
    """Return a number of steps that no run of the plan to its end can do without.

    Steps under a condition, repetitions over a list and what can be skipped with them may come to nothing, and count
    nothing.

    Args:
        of_skill: the same number for the plan of a skill, which the orders below carry out.

    Raises:
        PlanCycle: the steps wait for each other.
    """
    needs, steps = dependencies(plan), {step.id: step for step in plan.steps}
    uncertain: set[str] = set()
    counted = 0
    for name in order(plan):
        step = steps[name]
        if not _is_certain(step) or (needs[step.id] & uncertain & reads_into(step)):
            uncertain.add(step.id)
        else:
            counted += _units(step, of_skill)
    return counted


def _is_certain(step: Step) -> bool:
    return step.when is None and step.for_each is None


def _units(step: Step, of_skill: Callable[[Name], int]) -> int:
    if step.parallel:
        return sum(_units(branch, of_skill) for branch in step.parallel if _is_certain(branch))
    return 1 if step.skill is None else of_skill(step.skill)


def certain_steps_of(skill: Name, plan_of: Callable[[Name], PlanDefinition | None]) -> int:
    """Return the same number for a skill, with all that its plan has others do; a skill inside itself counts once.

    Args:
        plan_of: the plan of a skill, None where there is none that can be read.
    """
    return _of_skill(skill, plan_of, ())


def _of_skill(skill: Name, plan_of: Callable[[Name], PlanDefinition | None], inside: tuple[Name, ...]) -> int:
    plan = plan_of(skill)
    if plan is None or skill in inside or rings(plan):
        return 0
    return certain_steps(plan, lambda below: _of_skill(below, plan_of, (*inside, skill)))
