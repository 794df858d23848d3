from __future__ import annotations

from typing import Any

import pytest

from agents.employee.root import narrower, root_order
from contracts import Budget, ExecutionId, ExecutionRequest, Money, OrderId, TaskOrder, Tier
from runtime.errors import InvalidArguments, NotFound
from tests.agents.employee.staff import KNOWN_AT, department, explain


def root(skill: str | None, parameters: dict[str, Any] | None = None, **more: Any) -> TaskOrder:
    request = ExecutionRequest(
        organisation="airports", goal="Why?", parameters=parameters or {}, requested_by="ann", known_at=KNOWN_AT, **more
    )
    return root_order(
        request, department(), skill=skill, order_id=OrderId.new(), execution_id=ExecutionId.new(), trace_id="trace",
        now=KNOWN_AT,
    )  # fmt: skip


def test_a_skill_of_the_head_is_its_own_plan() -> None:
    given = root("oversee")
    assert (given.employee, given.skill, given.plan) == ("head", "oversee", department().skills["oversee"].plan)


def test_a_skill_further_down_is_handed_down_one_level() -> None:
    given = root("explain", {"origin": "EWR"})
    (step,) = given.plan.steps
    assert (given.employee, given.skill, step.by, step.skill) == ("head", None, "middle", "explain")
    assert given.inputs == {"at": "2013-02-08T17:00:00", "origin": "EWR"}
    assert given.tier is Tier.COGNITIVE


def test_every_missing_parameter_is_named_with_its_meaning_and_how_to_pass_it() -> None:
    with pytest.raises(InvalidArguments) as caught:
        root("explain")
    assert (
        "- origin: Airport code (string). For example EWR. Pass it as `--with origin=value` or in `parameters`."
        in caught.value.message
    )


def test_the_day_and_the_moment_are_those_of_the_organisation() -> None:
    plan = explain(parameters={"at": {"type": "date-time"}, "day": {"type": "date"}, "note": {"type": "string",
                               "required": False}, "limit": {"type": "number", "default": 0.1}})  # fmt: skip
    given = root(None, {"day": "2013-01-01"}, plan=plan).inputs
    assert given == {"at": "2013-02-08T17:00:00", "day": "2013-01-01", "note": None, "limit": 0.1}


def test_neither_skill_nor_plan_is_nothing_to_run() -> None:
    with pytest.raises(InvalidArguments, match="neither a skill nor a plan"):
        root(None)
    with pytest.raises(NotFound, match="There is no skill guess"):
        root("guess")


def test_the_narrower_budget_holds() -> None:
    five, two = Money.parse("5 USD"), Money.parse("2 USD")
    both = narrower(Budget(steps=10, money=five, seconds=60), Budget(steps=200, tokens=5, money=two))
    assert both == Budget(steps=10, tokens=5, seconds=60, money=two)


def test_budgets_in_two_currencies_are_refused() -> None:
    with pytest.raises(InvalidArguments, match="USD"):
        narrower(Budget(money=Money.parse("5 USD")), Budget(money=Money.parse("5 EUR")))
