from __future__ import annotations

from decimal import Decimal
from typing import Any

from contracts import Budget, Limit, PlanDefinition
from runtime.engine.check_shares import share_faults
from runtime.engine.shares import certain_shares, promised
from runtime.engine.view import OrderView

FIVE = {"money": {"amount": "5", "currency": "USD"}}


def plan(*steps: dict[str, Any]) -> PlanDefinition:
    return PlanDefinition.model_validate({"steps": [{"use": "work", **step} for step in steps]})


def test_only_what_surely_runs_counts() -> None:
    whole = plan({"id": "a", "budget": FIVE}, {"id": "b", "when": "1 > 0", "budget": FIVE},
                 {"id": "c", "for_each": "{{ a.rows }}", "budget": FIVE})  # fmt: skip

    assert [step.id for step in certain_shares(whole)] == ["a"]


def test_what_is_promised_to_others_is_kept_from_a_step() -> None:
    whole = plan({"id": "a"}, {"id": "b", "budget": {"steps": 3}}, {"id": "c", "budget": {"steps": 4}})

    assert promised(whole, OrderView(), "a", lambda step: False) == {Limit.STEPS: Decimal(7)}
    assert promised(whole, OrderView(), "b", lambda step: False) == {Limit.STEPS: Decimal(4)}
    assert promised(whole, OrderView(), "a", lambda step: step == "c") == {Limit.STEPS: Decimal(3)}


def test_shares_that_fit_are_no_fault() -> None:
    whole = plan({"id": "a", "budget": FIVE}, {"id": "b", "budget": {"steps": 3}})

    assert list(share_faults(whole, budget=Budget.model_validate({**FIVE, "steps": 3}), plans={})) == []
