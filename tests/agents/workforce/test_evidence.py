"""Done without the evidence of it is failed, and whoever gave the order tries the other way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contracts import OrderState, PlanDefinition, Tier
from runtime.ledger.port import Store
from tests.agents.employee.staff import FakeNode, FakeSkill, FakeStaff, department
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio

QUERY = {"id": "measure", "by": "analyst", "use": "flights.query", "with": {"text": "x"}}


def company(store: Store, clock: HandClock, *steps: dict[str, Any], **more: Any) -> Company:
    return Company(department(PlanDefinition.model_validate({"steps": steps})), store, clock, **more)


async def test_work_in_a_slot_that_sealed_nothing_is_failed(sqlite_store: Store, clock: HandClock) -> None:
    report = await company(sqlite_store, clock, QUERY, seals=None).ask("explain")

    assert report.error is not None
    assert (report.state, report.error.code) == (OrderState.FAILED, "ORDER_NOT_MET")
    assert "there is no sealed evidence of it" in report.error.message


async def test_a_package_that_does_not_show_the_call_is_no_evidence_of_it(
    sqlite_store: Store, clock: HandClock
) -> None:
    report = await company(sqlite_store, clock, QUERY, seals=lambda item: False).ask("explain")

    assert report.error is not None
    assert "step do calls flights.query, and no sealed evidence shows that it did" in report.error.message


async def test_the_giver_of_an_order_without_evidence_takes_the_other_way(
    sqlite_store: Store, clock: HandClock
) -> None:
    step = {**QUERY, "otherwise": {"use": "echo", "with": {"text": "other"}}}
    firm = company(sqlite_store, clock, step, seals=None)

    report = await firm.ask("explain")

    assert (report.state, report.output) == (OrderState.DONE, {"text": "other"})
    assert [order.context.get("learnt") for order in await firm.orders()][-1] is not None


async def test_a_call_that_an_order_below_must_make_is_looked_for_in_what_its_slot_sealed(
    sqlite_store: Store, clock: HandClock
) -> None:
    step = {**QUERY, "must_call": ["flights.query"]}

    report = await company(sqlite_store, clock, step).ask("explain")

    assert report.state is OrderState.DONE


async def test_a_call_is_followed_through_every_manager_down_to_the_slot_that_made_it(
    sqlite_store: Store, clock: HandClock
) -> None:
    go = {"id": "go", "by": "middle", "skill": "explain", "must_call": ["flights.query"]}
    staff = department(PlanDefinition.model_validate({"steps": [QUERY]}))
    oversee = FakeSkill("oversee", PlanDefinition.model_validate({"steps": [go]}))
    firm = Company(replace(staff, skills={**staff.skills, "oversee": oversee}), sqlite_store, clock)

    report = await firm.ask("oversee")

    assert (report.state, len(await firm.orders())) == (OrderState.DONE, 4)


async def test_a_call_that_nothing_shows_is_missed(sqlite_store: Store, clock: HandClock) -> None:
    say = {"id": "say", "by": "analyst", "use": "echo", "with": {"text": ""}, "must_call": ["flights.query"]}

    report = await company(sqlite_store, clock, say).ask("explain")

    assert report.error is not None
    assert "never called flights.query" in report.error.message


async def test_what_a_slot_did_not_have_to_do_needs_no_evidence(sqlite_store: Store, clock: HandClock) -> None:
    look = {"use": "flights.query", "with": {"text": "{{ xs }}"}}
    steps = [{**look, "id": "a"}, {**look, "id": "b", "when": "a.text.size() > 9"},
             {**look, "id": "c", "for_each": "{{ xs }}"}]  # fmt: skip
    plan = PlanDefinition.model_validate(
        {"parameters": {"xs": {"type": "array", "default": []}}, "steps": steps, "gives": {"a": "{{ a.text }}"}}
    )
    clerk = FakeNode("clerk", skills=("dig",), can=("flights.query",))
    go = PlanDefinition.model_validate({"steps": [{"id": "go", "by": "clerk", "skill": "dig"}]})
    skills = {"explain": FakeSkill("explain", go), "dig": FakeSkill("dig", plan, tier=Tier.EXECUTION)}
    firm = Company(FakeStaff(FakeNode("head", skills=("explain",), manages=(clerk,)), skills), sqlite_store, clock)

    report = await firm.ask("explain")

    assert report.error is None
    assert [order.tier for order in firm.submitted] == [Tier.EXECUTION]
