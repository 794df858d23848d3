from __future__ import annotations

import pytest

from agents.employee.reflect import Done, judge, unmet_criteria
from agents.employee.synthesise import synthesise
from contracts import ErrorCategory, OrderState, PlanDefinition, StatusReport, Step, TaskOrder
from tests.agents.employee.staff import explain, order

NOTHING = Done()
MUST = PlanDefinition(steps=(Step(id="look", use="echo", must_call=("flights.query",)),))


def report(given: TaskOrder, state: OrderState = OrderState.DONE, output: object = None) -> StatusReport:
    return StatusReport.model_validate({"order_id": given.order_id, "state": state, "output": output})


def test_done_without_what_was_asked_for_is_failed_with_every_reason() -> None:
    given = order(accept=("n >= 30", "verdict in ['weather']", "rows > 1"))
    judged = judge(given, report(given, output={"n": 3, "verdict": "weather"}), NOTHING)
    assert judged.error is not None
    assert (judged.state, judged.error.category) == (OrderState.FAILED, ErrorCategory.BUSINESS)
    assert "`n >= 30` (it is false)" in judged.error.message
    assert "`rows > 1` cannot be judged" in judged.error.message
    assert "verdict" not in judged.error.message


def test_done_without_the_call_that_must_be_made_is_failed() -> None:
    given = order(plan=MUST)
    judged = judge(given, report(given), Done(calls={"look": frozenset({"echo"})}))
    assert judged.error is not None
    assert "step look must call flights.query" in judged.error.message


@pytest.mark.parametrize("done", [Done(calls={"look": frozenset({"flights.query"})}), Done()])
def test_a_call_that_was_made_or_whose_step_was_skipped_is_not_missed(done: Done) -> None:
    given = order(plan=MUST)
    assert judge(given, report(given), done).state is OrderState.DONE


@pytest.mark.parametrize("state", [state for state in OrderState if state is not OrderState.DONE])
def test_only_done_is_judged(state: OrderState) -> None:
    given = order(accept=("1 > 2",))
    assert judge(given, report(given, state), NOTHING) == report(given, state)


def test_checks_on_the_whole_see_the_outputs_of_all_steps() -> None:
    given = order(plan=explain(accept=["measure.n > 1", "measure.n < origin.size()"]))
    judged = judge(given, report(given), Done({"measure": {"n": 3}}))
    assert judged.error is not None
    assert "`measure.n < origin.size()` (it is false)" in judged.error.message
    assert "n > 1" not in judged.error.message


def test_a_criterion_that_names_what_is_not_there_is_not_met() -> None:
    (unmet,) = unmet_criteria(("n > 1",), {})
    assert "cannot be judged" in unmet


def test_a_plan_that_gives_something_and_gave_nothing_is_not_done() -> None:
    given = order(plan=explain(gives={"n": "{{ measure.n }}"}))
    assert synthesise(given, report(given)).state is OrderState.FAILED
    assert synthesise(given, report(given, output={"n": 1})).state is OrderState.DONE
