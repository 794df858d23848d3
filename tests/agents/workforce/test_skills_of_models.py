"""A manager's model has its people's skills done: rights, evidence and who did what are those of every order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contracts import Budget, OrderState, PlanDefinition
from runtime.ledger.port import Store
from tests.agents.employee.staff import FakeSkill, department
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.fakes.model import ScriptedModel, calls, done
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "Explain the day.", "skills": ["explain"], "gives": {"why": "string"}}
QUERY = {"id": "measure", "by": "analyst", "use": "flights.query", "with": {"text": "x"}}


def firm(store: Store, clock: HandClock, model: ScriptedModel, *, step: dict[str, Any] = THINK, **more: Any) -> Company:
    staff = department(PlanDefinition.model_validate({"steps": [QUERY]}))
    oversee = FakeSkill("oversee", PlanDefinition.model_validate({"steps": [step], **more}))
    staff = replace(staff, skills={**staff.skills, "oversee": oversee})
    return Company(staff, store, clock, model=model)


async def test_a_call_goes_down_the_tree_to_whoever_has_the_skill(sqlite_store: Store, clock: HandClock) -> None:
    """O2: the order still records who did what, and why."""
    company = firm(sqlite_store, clock, ScriptedModel(calls(("explain", {})), done(why="weather")))

    report = await company.ask("oversee")

    assert (report.state, report.output) == (OrderState.DONE, {"why": "weather"})
    orders = await company.orders()
    assert [(order.employee, order.skill) for order in orders] == [
        ("head", "oversee"), ("head", None), ("middle", None), ("desk", "explain"), ("analyst", None),
    ]  # fmt: skip
    assert [order.chain[-1].step for order in orders[1:3]] == ["think", "delegate"]


async def test_what_a_skill_of_a_model_called_counts_as_called_for_whoever_asks_for_it(
    sqlite_store: Store, clock: HandClock
) -> None:
    model = ScriptedModel(calls(("explain", {})), done(why="weather"))
    company = firm(sqlite_store, clock, model)
    outer = {"id": "all", "skill": "oversee", "must_call": ["flights.query"]}
    top = FakeSkill("top", PlanDefinition.model_validate({"steps": [outer]}))
    staff = replace(company.staff, skills={**company.staff.skills, "top": top})
    head = replace(staff.head, skills=("oversee", "top"))

    report = await Company(replace(staff, head=head), sqlite_store, clock, model=model).ask("top")

    assert report.state is OrderState.DONE, report.error


async def test_what_nobody_below_called_is_missed(sqlite_store: Store, clock: HandClock) -> None:
    company = firm(sqlite_store, clock, ScriptedModel(*[done(why="I know.")] * 2))  # it is asked for once more
    outer = {"id": "all", "skill": "oversee", "must_call": ["flights.query"]}
    top = FakeSkill("top", PlanDefinition.model_validate({"steps": [outer]}))
    staff = replace(company.staff, skills={**company.staff.skills, "top": top})
    head = replace(staff.head, skills=("oversee", "top"))

    report = await Company(replace(staff, head=head), sqlite_store, clock, model=company.model).ask("top")

    assert report.error is not None and "flights.query" in report.error.message


async def test_all_means_the_skills_at_or_below_without_the_one_at_work_and_those_that_several_have(
    sqlite_store: Store, clock: HandClock
) -> None:
    model = ScriptedModel(done(why="I know."))
    company = firm(sqlite_store, clock, model, step={**THINK, "skills": "all"})

    await company.ask("oversee")

    shown = [tool["function"]["name"] for tool in model.requests[0].tools]
    assert shown == ["explain", "review", "step_control"]


async def test_a_step_that_cannot_be_given_the_skill_it_needs_says_why_before_its_model_is_asked(
    sqlite_store: Store, clock: HandClock
) -> None:
    model = ScriptedModel()
    company = firm(sqlite_store, clock, model, step={**THINK, "skills": "all", "must_call": ["oversee"]})

    report = await company.ask("oversee")

    assert report.error is not None and model.requests == []
    assert "cannot offer it: its own order is part of one for it" in report.error.message


async def test_a_skill_that_is_asked_for_inside_itself_is_stopped_by_the_system(
    sqlite_store: Store, clock: HandClock
) -> None:
    """O1: a model that hands its own work to itself ends at the guard, and is told why."""
    answers = [calls(("oversee", {}))] * 3 + [done(why="weather")] * 3
    model = ScriptedModel(*answers)
    company = firm(sqlite_store, clock, model, step={**THINK, "skills": ["oversee"]})

    report = await company.ask("oversee")

    assert report.state is OrderState.DONE
    told = [m["content"] for request in model.requests for m in request.messages if m["role"] == "tool"]
    assert any("RECURSION_STOPPED" in each and "engine.same_id_in_chain" in each for each in told)


async def test_steps_of_a_whole_branch_of_the_tree_count_once_at_the_top(sqlite_store: Store, clock: HandClock) -> None:
    company = firm(sqlite_store, clock, ScriptedModel(calls(("explain", {})), done(why="weather")))

    report = await company.ask("oversee", governance={"budget": Budget(steps=50).to_json()})

    assert (report.state, report.usage.steps) == (OrderState.DONE, 2)
