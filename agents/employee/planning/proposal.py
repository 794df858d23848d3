"""A proposed plan: steps over the skills that there are, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from agents.employee import tree
from agents.employee.parameters import passed_to
from agents.employee.ports import Node, Staff
from contracts import Json, Parameter, PlanDefinition, Step
from runtime.engine.check import check_plan
from runtime.errors import InvalidArguments
from runtime.plain_words import in_plain_words

MOST_STEPS = 20
"""Steps of a proposed plan at most: what takes more is better made into skills."""
_MOST_FAULTS, _MOST_CHARS = 20, 300
"""Faults that are told, and characters of each: they are read by the model, with every request that follows."""
_FIELDS = ("id", "skill", "by", "with", "after")


class ProposalFaulty(InvalidArguments):
    """A proposed plan cannot be carried out; the message tells every fault, so that the next proposal can be right."""

    code = "PROPOSAL_FAULTY"


def schema_for(staff: Staff, below: Node) -> dict[str, Json]:
    """Return the JSON Schema of a proposal: ids of skills and employees are the only ones there are."""
    able, workers = skills_below(staff, below), [node.id for node in tree.everyone(below)]
    passed = "Values of the skill's parameters; `{{ id.field }}` takes what an earlier step gave."
    step: dict[str, Json] = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,39}$", "description": "A name of your own."},
            "skill": {"type": "string", "enum": list[Json](able)},
            "by": {"type": "string", "enum": list[Json](workers), "description": "Only where several can do it."},
            "with": {"type": "object", "description": passed},
            "after": {
                "type": "array", "items": {"type": "string"}, "maxItems": MOST_STEPS,
                "description": "Steps that come first.",
            },
        },
        "required": ["id", "skill"],
        "additionalProperties": False,
    }  # fmt: skip
    steps: Json = {"type": "array", "items": step, "minItems": 1, "maxItems": MOST_STEPS}
    return {"type": "object", "properties": {"steps": steps}, "required": ["steps"], "additionalProperties": False}


def skills_below(staff: Staff, node: Node) -> list[str]:
    """Return the skills that somebody at or below has, in reading order."""
    return list(dict.fromkeys(name for each in tree.everyone(node) for name in each.skills if name in staff.skills))


def plan_of(steps: Json) -> PlanDefinition:
    """Return the plan that the steps are; raise ProposalFaulty with everything that is not the form of one."""
    if not isinstance(steps, list) or not steps:
        raise ProposalFaulty("A plan has one step at least; `steps` is a list of them.")
    made, faults = [], []
    for number, each in enumerate(steps, 1):
        given = each if isinstance(each, Mapping) else {}
        try:
            made.append(Step.model_validate({name: given[name] for name in _FIELDS if given.get(name) is not None}))
        except ValidationError as error:
            name = given.get("id") or f"number {number}"
            faults += [_in_words(name, dict(each)) for each in error.errors(include_url=False)]
    if faults:
        raise _faulty(faults)
    try:
        return PlanDefinition(steps=tuple(made))
    except ValidationError as error:
        raise _faulty([in_plain_words(each) + "." for each in error.errors(include_url=False)]) from None


def require_sound(plan: PlanDefinition, staff: Staff, below: Node) -> None:
    """Return when the plan can be carried out at or below an employee.

    Raises:
        ProposalFaulty: steps name skills or employees that there are not, wait for each other or for later ones, lack
            parameters, or several employees could do one of them.
    """
    able = skills_below(staff, below)
    faults = [
        *_from_check(plan, staff, able, [node.id for node in tree.everyone(below)]),
        *(fault for step in plan.steps for fault in _who_faults(step, staff, below)),
    ]
    if faults:
        raise _faulty(faults)


def addressed(plan: PlanDefinition, below: Node) -> PlanDefinition:
    """Return the plan with each step given to the one below through whom its skill is reached.

    Otherwise whoever follows the plan would first give every step to itself, which is a level of employees more.
    """
    return plan.model_copy(update={"steps": tuple(_addressed(step, below) for step in plan.steps)})


def _addressed(step: Step, below: Node) -> Step:
    if step.by is not None or step.skill is None or step.skill in below.skills:
        return step
    able = tree.nearest_with(below, step.skill)
    if len(able) != 1:
        return step
    return step.model_copy(update={"by": tree.next_on_the_way(below, able[0].id).id})


def _from_check(plan: PlanDefinition, staff: Staff, able: Sequence[str], workers: Sequence[str]) -> Iterator[str]:
    parameters: dict[str, Mapping[str, Parameter]] = {name: passed_to(staff.skills[name].plan) for name in able}
    for fault in check_plan(
        plan, specs={}, gives_of=lambda step: _gives_of(staff, step), skills=parameters, employees=workers
    ):
        step = _step_at(plan, fault.path)
        yield f"{f'step {step}: ' if step else ''}{fault.message} {fault.hint}".strip()


def _gives_of(staff: Staff, step: Step) -> Mapping[str, Any] | None:
    known = staff.skills.get(step.skill or "")
    return dict.fromkeys(known.plan.gives, "any") if known is not None and known.plan.gives else None


def _step_at(plan: PlanDefinition, path: Sequence[str | int]) -> str:
    at = next((part for part in path if isinstance(part, int)), None)
    return plan.steps[at].id if at is not None and at < len(plan.steps) else ""


def _who_faults(step: Step, staff: Staff, below: Node) -> Iterator[str]:
    """Yield that nobody, or more than one, would do the step."""
    if step.skill is None or step.skill not in skills_below(staff, below):
        return  # which is told already
    start = below
    if step.by is not None:
        found = next((node for node in tree.everyone(below) if node.id == step.by), None)
        if found is None:
            return
        start = found
    able = [node.id for node in tree.nearest_with(start, step.skill)]
    if not able:
        having = [node.id for node in tree.everyone(below) if step.skill in node.skills]
        yield f"step {step.id}: neither {step.by} nor anybody below has the skill {step.skill}. Say `by: {having[0]}`."
    if len(able) > 1:
        yield f"step {step.id}: {' and '.join(able)} both have the skill {step.skill}. Say in `by` which of them."


def _in_words(step: object, error: Mapping[str, Any]) -> str:
    """Return what is wrong with a step, and with which field of it where it is about one."""
    field = f"`{error['loc'][0]}`" if error["loc"] else "it"
    return f"step {step}: {field} {in_plain_words(error)}."


def _faulty(faults: Sequence[str]) -> ProposalFaulty:
    told = [fault if len(fault) <= _MOST_CHARS else f"{fault[:_MOST_CHARS]}…" for fault in dict.fromkeys(faults)]
    more = [f"{len(told) - _MOST_FAULTS:,} more."] if len(told) > _MOST_FAULTS else []
    told = [*told[:_MOST_FAULTS], *more]
    listed = "\n".join(f"- {fault}" for fault in told)
    return ProposalFaulty(
        f"The plan cannot be carried out. Mend all of this and propose it again:\n{listed}",
        faults=list[Json](told), happened="no",
    )  # fmt: skip
