"""A free goal: a model proposes, code checks, people are asked where nothing sound comes about."""

from __future__ import annotations

from typing import Any

import pytest

from agents.employee.planning.conclude import StateResult
from agents.employee.planning.goal import answering_plan, planning_plan
from agents.employee.planning.propose import NOTHING_OF_THESE, ChooseSkill, ProposePlan
from contracts import Answer, OrderState, PlanDefinition, QuestionId, StatusReport, StepMode
from runtime.engine.questions import read_answer
from runtime.errors import ModelRequired, NetworkFault
from runtime.ledger.port import Append, NewEvent, Store
from runtime.model.port import ModelAnswer
from tests.agents.employee.staff import department
from tests.agents.workforce.company import Company
from tests.agents.workforce.test_inline import EXPLAIN
from tests.fakes.clock import HandClock
from tests.fakes.model import ScriptedModel, calls, control, says
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio

SOUND = {"id": "look", "skill": "explain", "with": {"origin": "EWR"}}
INVENTED = {"id": "look", "skill": "invented"}


RESULT = {"worst": "EV", "asked": "EWR", "at": "2013-02-08T17:00:00"}


def proposes(*steps: Any) -> ModelAnswer:
    return calls(("propose_plan", {"steps": list(steps)}))


def concludes(text: str, reached: str = "yes") -> ModelAnswer:
    return calls(("state_result", {"text": text, "reached": reached}))


@pytest.fixture
def firm(sqlite_store: Store, clock: HandClock) -> Company:
    staff = department(PlanDefinition.model_validate(EXPLAIN))

    async def answer_to(question_id: QuestionId, step: str) -> Answer | None:
        return await read_answer(sqlite_store.ledger, question_id, clock, step=step)

    return Company(staff, sqlite_store, clock, more=[ProposePlan(staff), ChooseSkill(staff, answer_to), StateResult()])


async def planned(firm: Company, *answers: ModelAnswer | Exception) -> StatusReport:
    firm.model = ScriptedModel(*answers)
    return await firm.ask(None, plan=planning_plan(firm.staff, ["explain"], why="a test").to_json())


async def test_the_proposed_steps_are_carried_out_by_those_who_have_the_skills(firm: Company) -> None:
    report = await planned(firm, proposes(SOUND), concludes("EV was worst."))
    assert report.error is None
    assert report.output == {"result": RESULT, "text": "EV was worst.", "reached": "yes"}
    assert [order.employee for order in await firm.orders()] == ["head", "head", "middle", "desk", "analyst", "analyst"]


async def test_a_faulty_proposal_comes_back_with_every_fault_and_may_be_mended(firm: Company) -> None:
    report = await planned(firm, proposes(INVENTED), proposes(SOUND), concludes("EV."))
    assert report.state is OrderState.DONE
    assert isinstance(firm.model, ScriptedModel)
    assert "invented" in str(firm.model.requests[1].messages)


async def test_a_person_is_asked_when_no_sound_plan_comes_about(firm: Company) -> None:
    report = await planned(firm, *[proposes(INVENTED)] * 3)
    assert report.state is OrderState.WAITING
    (asked,) = report.waiting_for
    (event,) = await firm.store.ledger.read(asked)
    assert event.data is not None
    assert {"explain", "review", NOTHING_OF_THESE} <= set(event.data["question"]["choices"])  # type: ignore[index,call-overload,arg-type]


async def test_the_person_is_asked_in_the_language_of_the_goal(firm: Company) -> None:
    firm.model = ScriptedModel(*[proposes(INVENTED)] * 3)
    plan = planning_plan(firm.staff, ["explain"], why="a test").to_json()
    report = await firm.ask(None, plan=plan, language="zh")
    (event,) = await firm.store.ledger.read(report.waiting_for[0])
    assert "没有" in str(event.data)


async def answered(firm: Company, asked: str, value: str, clock: HandClock) -> StatusReport:
    (event,) = await firm.store.ledger.read(asked)
    answer = Answer(question_id=QuestionId(asked), value=value, by="ann", at=clock.now())
    fact = NewEvent("question.answered", {"answer": answer.to_json()})
    await firm.store.ledger.append(Append(asked, [fact], 1, event.organisation, "/test"))
    assert event.execution_id is not None
    return await firm.executor.run(event.execution_id)


async def test_the_skill_that_a_person_chooses_is_the_plan(firm: Company, clock: HandClock) -> None:
    report = await planned(firm, *[proposes(INVENTED)] * 3)
    ended = await answered(firm, report.waiting_for[0], "oversee", clock)
    assert "origin" in str(ended.error)  # of the skill that is overseen: what it needs nobody said


async def test_a_person_may_say_that_no_skill_does(firm: Company, clock: HandClock) -> None:
    report = await planned(firm, *[proposes(INVENTED)] * 3)
    ended = await answered(firm, report.waiting_for[0], NOTHING_OF_THESE, clock)
    assert ended.error is not None
    assert ended.error.code == "GOAL_DROPPED"


async def test_a_model_that_says_that_nothing_helps_has_a_person_asked(firm: Company) -> None:
    report = await planned(firm, control("blocked", reason="no skill helps"))
    assert report.state is OrderState.WAITING


async def test_words_are_no_plan(firm: Company) -> None:
    report = await planned(firm, *[says("First explain, then review.")] * 3)
    assert report.state is OrderState.WAITING


async def test_a_question_is_answered_in_words(firm: Company) -> None:
    firm.model = ScriptedModel(says("A slot is a place to work."))
    report = await firm.ask(None, plan=answering_plan(why="a test").to_json())
    assert report.output == {"text": "A slot is a place to work."}


async def test_skills_are_shown_with_what_they_need(firm: Company) -> None:
    plan = planning_plan(firm.staff, ["review", "explain"], why="a test")
    shown: Any = plan.steps[0].arguments["skills"]
    assert [each["skill"] for each in shown] == ["review", "explain"]
    assert shown[1]["with"]["origin"].startswith("string")
    assert [step.mode for step in plan.steps] == [StepMode.REACT, StepMode.EMPLOYEE, StepMode.REACT]


async def test_what_the_model_says_of_the_result_holds_no_number_of_its_own(firm: Company) -> None:
    report = await planned(firm, proposes(SOUND), concludes("213 of 671 flights."), concludes("EV was worst."))
    assert isinstance(report.output, dict)
    assert report.output["text"] == "EV was worst."
    assert isinstance(firm.model, ScriptedModel)
    assert "213" in str(firm.model.told)


@pytest.mark.parametrize("fault", [NetworkFault("away"), ModelRequired("none is set")], ids=["away", "none"])
async def test_work_that_is_done_is_done_without_words_too(firm: Company, fault: Exception) -> None:
    firm.settings = firm.settings.model_copy(update={"network_retries": 0})
    report = await planned(firm, proposes(SOUND), fault)
    assert report.state is OrderState.DONE
    assert report.output == {"result": RESULT, "text": None, "reached": None}


async def test_a_goal_that_was_not_reached_is_told_so(firm: Company) -> None:
    report = await planned(firm, proposes(SOUND), concludes("It says nothing about that.", "no"))
    assert isinstance(report.output, dict)
    assert report.output["reached"] == "no"
