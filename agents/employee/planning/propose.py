"""The tools of planning: a model proposes steps, or a person says which skill it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from agents.employee import tree
from agents.employee.planning.proposal import plan_of, require_sound, schema_for, skills_below
from agents.employee.ports import Staff
from contracts import Answer, Json, Parameter, Question, QuestionId, Tier, ValueType
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.errors import BusinessRefusal
from runtime.ledger.port import Append, NewEvent

PROPOSE, CHOOSE = "propose_plan", "choose_skill"
_GIVES: Mapping[str, Json] = {"steps": "array"}

PROPOSE_SPEC = CapabilitySpec(
    name=PROPOSE,
    kind="builtin_tool",
    description="Proposes the steps that reach the goal. It is checked at once, and every fault is told.",
    parameters={"steps": Parameter(type=ValueType.ARRAY, description="The steps, in the order people read them.")},
    gives=_GIVES,
    tier=Tier.COGNITIVE,
    ends_step=True,
)
CHOOSE_SPEC = CapabilitySpec(
    name=CHOOSE,
    kind="builtin_tool",
    description="Asks the person who set the goal which skill reaches it.",
    parameters={"question": Parameter(type=ValueType.ANY, description="What is asked, or that by language.")},
    gives=_GIVES,
    tier=Tier.COGNITIVE,
    open_arguments=True,
)

NOTHING_OF_THESE = "none of these"
"""The answer with which a person ends the goal instead."""
Answers = Callable[[QuestionId, str], Awaitable[Answer | None]]
"""Gives the answer to a question of a step, None while there is none; raises when nobody answered in time."""


class GoalDropped(BusinessRefusal):
    """The person says that no skill reaches the goal."""

    code = "GOAL_DROPPED"


class ProposePlan:
    """Takes a plan only when it can be carried out, at or below whoever proposes it."""

    def __init__(self, staff: Staff) -> None:
        self._staff = staff
        self.spec = replace(PROPOSE_SPEC, schema=schema_for(staff, staff.head))

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Return the steps as they are carried out; raise ProposalFaulty with everything that is wrong."""
        below = tree.find(self._staff.head, context.order.employee)
        plan = plan_of(arguments["steps"])
        require_sound(plan, self._staff, below)
        return CallResult({"steps": [_told(step.to_json()) for step in plan.steps]})


class ChooseSkill:
    """Asks a person where no plan came about: one skill is a plan too."""

    spec = CHOOSE_SPEC

    def __init__(self, staff: Staff, answers: Answers) -> None:
        self._staff = staff
        self._answers = answers

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Ask at the first call; afterwards give the chosen skill as the only step, or go on waiting.

        Raises:
            GoalDropped: the person says that it is none of them.
        """
        asked = next((each for each in context.pending if isinstance(each, QuestionId)), None)
        if asked is None:
            question = self._question(arguments["question"], context)
            return Waiting((question.question_id,), (_append(question, context),))
        answer = await self._answers(asked, context.step)
        if answer is None:
            return Waiting((asked,))
        if answer.value == NOTHING_OF_THESE:
            raise GoalDropped(f"{answer.by} says that no skill here reaches the goal “{context.order.objective}”.")
        return CallResult({"steps": [{"id": "chosen", "skill": answer.value}]})

    def _question(self, text: Json, context: CallContext) -> Question:
        below = tree.find(self._staff.head, context.order.employee)
        return Question(
            question_id=QuestionId.new(),
            execution_id=context.order.execution_id,
            order_id=context.order.order_id,
            step=context.step,
            text=_words(text, context.order.language),
            choices=(*skills_below(self._staff, below), NOTHING_OF_THESE),
            asked_at=context.now,
        )


def _words(text: Json, language: str) -> str:
    return str(text.get(language) or text.get("en") or "") if isinstance(text, dict) else str(text)


def _told(step: dict[str, Json]) -> dict[str, Json]:
    """Return a step as it was proposed: what follows from a default is left out."""
    return {name: step[name] for name in ("id", "skill", "by", "with", "after") if step.get(name)}


def _append(question: Question, context: CallContext) -> Append:
    order = context.order
    return Append(
        stream=str(question.question_id),
        events=[NewEvent("question.asked", {"question": question.to_json()})],
        expected_version=0,
        organisation=order.organisation,
        source=f"/organisation/{order.organisation}/employee/{order.employee}",
        execution_id=order.execution_id,
        trace_id=order.trace_id,
    )
