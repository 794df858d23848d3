"""What becomes of a goal that no skill is named for: a plan that a model makes, or an answer in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agents.employee.parameters import passed_to
from agents.employee.planning.conclude import CONCLUDE
from agents.employee.planning.propose import CHOOSE, PROPOSE
from agents.employee.ports import KnownSkill, Staff
from contracts import Alternative, Json, Parameter, PlanDefinition, Step, Text

_PLAN = (
    "Work out how this organisation reaches the goal of the order with the skills below, in as few steps as do. "
    "Propose them with propose_plan. Leave out what the goal does not ask for. When no skill helps, say `blocked`."
)
_CONCLUDE = (
    "Say in a few sentences what came of the order's goal, from the result below alone, and whether it was reached, "
    "with state_result. Add no number and no claim that the result does not hold."
)
_ANSWER = "Answer the order in a few sentences, in its language. Say so when you do not know. Nothing is done for it."


def planning_plan(staff: Staff, shown: Iterable[str], *, why: str) -> PlanDefinition:
    """Return the plan by which the head has a model make a plan, follows it, and has the model say what came of it.

    Where no plan comes about a person is asked, and where no sound words do there are none.

    Args:
        shown: the skills that the model sees; it may propose any that there is.
        why: for people: why this goal is planned.
    """
    skills = [_shown(staff.skills[name]) for name in shown]
    question: Json = {
        "en": "No plan was made for this goal. Which skill reaches it?",
        "zh": "没有为这个目标做出计划。哪个技能可以达到它？",
    }
    plan = Step(
        id="plan",
        description=f"Make a plan: {why}.",
        react=_PLAN,
        tools=(PROPOSE,),
        must_call=(PROPOSE,),
        **{"with": {"skills": skills}},
        otherwise=Alternative(use=CHOOSE, **{"with": {"question": question}}),
    )
    follow = Step(id="follow", description="Carry the plan out.", by=staff.head.id, plan="{{ plan.steps }}")
    conclude = Step(
        id="conclude",
        description="Say what came of it.",
        react=_CONCLUDE,
        tools=(CONCLUDE,),
        must_call=(CONCLUDE,),
        # The result of that name is filled in by code, to check the words against; the other is what the model reads.
        **{"with": {"result": "{{ follow }}", "came": "{{ follow }}"}},
        otherwise=Alternative(skip=True),
    )
    gives: dict[str, Json] = {
        "result": "{{ follow }}", "text": "{{ conclude.text }}", "reached": "{{ conclude.reached }}"
    }  # fmt: skip
    return PlanDefinition(steps=(plan, follow, conclude), gives=gives)


def answering_plan(*, why: str) -> PlanDefinition:
    """Return the plan by which a model answers in words."""
    return PlanDefinition(
        steps=(Step(id="answer", description=f"Answer: {why}.", react=_ANSWER, gives={"text": "string"}),)
    )


def _shown(skill: KnownSkill) -> Json:
    """Return a skill as a model reads it."""
    when = str(getattr(skill, "when_to_use", ""))
    parameters = passed_to(skill.plan)
    told: dict[str, Json] = {"skill": skill.name, "for": _text(skill.description)}
    if when:
        told["when"] = when
    if parameters:
        told["with"] = {name: _meaning(parameter) for name, parameter in parameters.items()}
    return told


def _meaning(parameter: Parameter) -> str:
    optional = "" if parameter.must_be_given else "(optional)"
    return " ".join(part for part in (parameter.type.value, optional, _text(parameter.description)) if part)


def _text(text: Text | Mapping[str, str]) -> str:
    return text if isinstance(text, str) else text.get("en", next(iter(text.values()), ""))
