"""Plan: the declared plan of an order, looked at before anything of it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.employee import tree
from agents.employee.ports import Node, Staff
from contracts import Json, Name, PlanDefinition, Step, TaskOrder
from runtime.engine.certain import certain_steps, certain_steps_of
from runtime.engine.check_shape import shape_faults
from runtime.engine.fault import Path
from runtime.engine.graph import rings
from runtime.engine.guards import levels
from runtime.engine.other_way import forms_of
from runtime.errors import InvalidArguments
from runtime.once import once_for_each
from runtime.settings.groups import EngineSettings


class PlanFaulty(InvalidArguments):
    """The plan of an order cannot be carried out; nothing of it was run. The facts name every fault."""

    code = "PLAN_FAULTY"


def plan(
    order: TaskOrder, staff: Staff, employee: Name, *, settings: EngineSettings | None = None
) -> PlanDefinition:  # fmt: skip
    """Return the plan that the employee is going to follow.

    Raises:
        InvalidArguments: the order is for somebody else, or for nobody in this organisation.
        PlanFaulty: steps wait for each other in a ring or for what there is not, are never reached, go to somebody
            who is not below the employee or stands too deep, or are more than the organisation's budget can ever hold;
            the message tells all of it at once.
    """
    if order.employee != employee:
        raise InvalidArguments(
            f"{order.order_id} is for {order.employee}, but {employee} got it.",
            order_id=order.order_id, employee=employee,
        )  # fmt: skip
    me = tree.find(staff.head, employee)
    faults = [
        *_shape(order.plan),
        *_targets(order, me, settings or EngineSettings()),
        *_budget(order, staff),
    ]
    if faults:
        listed = "\n".join(f"- {fault}" for fault in faults)
        raise PlanFaulty(
            f"The plan of {employee} cannot be carried out. Nothing of it was run.\n{listed}",
            employee=employee, faults=list[Json](faults),
        )  # fmt: skip
    return order.plan


@once_for_each(256)
def _shape(plan: PlanDefinition) -> Sequence[str]:
    return [f"step {_step_at(plan, fault.path)}: {fault.message} {fault.hint}".rstrip() for fault in shape_faults(plan)]


def _step_at(plan: PlanDefinition, path: Path) -> str:
    """Return the id of the step that a path of a fault leads to."""
    steps, found = plan.steps, ""
    for part in path:
        if isinstance(part, int) and part < len(steps):
            found, steps = steps[part].id, steps[part].parallel
        elif part not in ("steps", "parallel"):
            break
    return found


def _targets(order: TaskOrder, me: Node, settings: EngineSettings) -> Iterator[str]:
    named = _named(order.plan)
    level = len(levels(order)) if named else 0
    for step, name in named:
        try:
            tree.find(me, name)
        except InvalidArguments as error:
            yield f"step {step.id}: {error.message}"
            continue
        if name != me.id and level >= settings.tree_depth:
            yield (
                f"step {step.id}: {name} would stand on level {level + 1} of employees, and {settings.tree_depth} is "
                f"the limit (setting engine.tree_depth)."
            )


@once_for_each(256)
def _named(plan: PlanDefinition) -> Sequence[tuple[Step, Name]]:
    """Return each step that names an employee, with the name; once where its other ways name the same."""
    return [
        (step, name)
        for step in plan.all_steps()
        for name in dict.fromkeys(form.by for form in forms_of(step))
        if name is not None
    ]


def _budget(order: TaskOrder, staff: Staff) -> Iterator[str]:
    """Yield that not even the whole budget of the organisation holds what the plan takes whatever happens.

    A smaller budget, the request's or a manager's share, is no fault: reaching it is a report with what there is so
    far, and it can be made larger.
    """
    most = staff.budget.steps
    if most is None or order.chain or _is_surely_enough(order.plan, most) or rings(order.plan):
        return
    least = certain_steps(order.plan, lambda skill: certain_steps_of(skill, lambda name: _plan_of(staff, name)))
    if least > most:
        yield (
            f"it takes {least} steps whatever happens, and the organisation allows {most} (budget.steps in org.yaml). "
            f"Raise that, or make the plan smaller."
        )


def _is_surely_enough(plan: PlanDefinition, most: int) -> bool:
    """Whether each step may count once, which hardly any plan is too large for, and none takes more than that."""
    steps = list(plan.all_steps())
    return len(steps) <= most and not any(step.skill for step in steps)


def _plan_of(staff: Staff, skill: Name) -> PlanDefinition | None:
    return staff.skills[skill].plan if skill in staff.skills else None
