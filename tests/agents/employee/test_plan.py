from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.employee.plan import PlanFaulty, plan
from contracts import Ancestor, Budget, OrderId, PlanDefinition
from runtime.engine.certain import certain_steps
from runtime.errors import InvalidArguments
from runtime.settings.groups import EngineSettings
from tests.agents.employee.staff import FakeSkill, department, explain, order

LOOK = {"by": "analyst", "use": "echo", "with": {"text": ""}}


def plan_of(*steps: dict[str, Any], **more: Any) -> PlanDefinition:
    return PlanDefinition.model_validate({"steps": [{**LOOK, **step} if "skill" not in step else step
                                                    for step in steps], **more})  # fmt: skip


def above(*names: str) -> tuple[Ancestor, ...]:
    return tuple(Ancestor(order_id=OrderId.new(), employee=name) for name in names)


def test_a_plan_that_hangs_together_is_followed() -> None:
    assert plan(order(), department(), "desk") == explain()


def test_an_order_for_somebody_else_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="is for desk"):
        plan(order(), department(), "middle")


def test_a_plan_stays_inside_the_subtree() -> None:
    with pytest.raises(PlanFaulty, match="step measure: There is no employee analyst at or below other-desk"):
        plan(order("other-desk"), department(), "other-desk")


def test_the_other_way_stays_inside_the_subtree_too() -> None:
    step = {"id": "look", "otherwise": {"by": "other-analyst", "use": "flights.query"}}

    with pytest.raises(PlanFaulty, match="step look: There is no employee other-analyst"):
        plan(order(plan=plan_of(step)), department(), "desk")


def test_steps_that_wait_for_each_other_are_named_with_what_is_behind_them() -> None:
    ring = plan_of({"id": "a", "after": ["b"]}, {"id": "b", "after": ["a"]}, {"id": "c", "after": ["b"]})

    with pytest.raises(PlanFaulty, match=r"step a: Steps wait for each other in a ring: a → b → a.*reached.*`c`"):
        plan(order(plan=ring), department(), "desk")


def test_a_step_that_never_runs_is_named_with_what_needs_it() -> None:
    never = plan_of({"id": "a", "when": "1 > 2"}, {"id": "b", "with": {"text": "{{ a.text }}"}})

    with pytest.raises(PlanFaulty, match=r"step a: `a` never runs.*reached because of it: `b`"):
        plan(order(plan=never), department(), "desk")


def test_a_target_below_the_deepest_level_is_refused_before_anything_runs() -> None:
    given = order(plan=plan_of({"id": "look"}), chain=above("head", "middle"))

    with pytest.raises(PlanFaulty, match="analyst would stand on level 4 of employees, and 3 is the limit"):
        plan(given, department(), "desk", settings=EngineSettings(tree_depth=3))


def test_a_plan_that_the_whole_budget_of_the_organisation_cannot_hold_is_refused() -> None:
    staff = replace(department(), budget=Budget(steps=2))
    given = order(plan=plan_of(*({"id": f"s{n}"} for n in range(3))))

    with pytest.raises(PlanFaulty, match="takes 3 steps whatever happens, and the organisation allows 2"):
        plan(given, staff, "desk")


def test_what_the_orders_below_certainly_take_counts() -> None:
    three = plan_of(*({"id": f"s{n}"} for n in range(3)))
    staff = replace(department(), skills={"explain": FakeSkill("explain", three)}, budget=Budget(steps=5))
    twice = plan_of({"id": "one", "by": "desk", "skill": "explain"}, {"id": "two", "by": "desk", "skill": "explain"})

    with pytest.raises(PlanFaulty, match="takes 6 steps"):
        plan(order("head", plan=twice), staff, "head")


def test_a_smaller_budget_of_the_request_is_a_limit_and_no_fault() -> None:
    given = order(plan=plan_of(*({"id": f"s{n}"} for n in range(3))), budget=Budget(steps=1))

    assert plan(given, department(), "desk") == given.plan


def test_all_faults_are_told_at_once() -> None:
    faulty = plan_of(
        {"id": "a", "after": ["b"]},
        {"id": "b", "after": ["a"]},
        {"id": "c", "by": "ghost"},
        {"id": "d", "after": ["x"]},
    )

    with pytest.raises(PlanFaulty) as caught:
        plan(order(plan=faulty), replace(department(), budget=Budget(steps=1)), "desk")

    assert len(caught.value.facts["faults"]) == 3  # type: ignore[arg-type]  # what a ring takes, nobody can tell


@pytest.mark.parametrize(
    ("steps", "least"),
    [
        ([{"id": "a"}, {"id": "b"}], 2),
        ([{"id": "a", "when": "context.x > 1"}, {"id": "b", "with": {"text": "{{ a.text }}"}}, {"id": "c"}], 1),
        ([{"id": "a", "when": "context.x > 1"}, {"id": "b", "after": ["a"]}], 1),
        ([{"id": "a", "for_each": "{{ context.xs }}"}, {"id": "b", "with": {"text": "{{ a }}"}}], 1),
        ([{"id": "a", "until": {"check": "true", "most": 3}}], 1),
        ([{"id": "a", "skill": "explain"}], 7),
        ([{"id": "a", "when": "1 < 2"}], 0),
    ],
)
def test_only_what_runs_in_every_case_is_certain(steps: list[dict[str, Any]], least: int) -> None:
    assert certain_steps(plan_of(*steps), lambda skill: 7) == least


def test_each_branch_of_a_group_is_certain() -> None:
    branches = [{**LOOK, "id": "a"}, {**LOOK, "id": "b", "when": "context.x > 1"}, {**LOOK, "id": "c"}]
    group = PlanDefinition.model_validate({"steps": [{"id": "g", "parallel": branches}]})

    assert certain_steps(group) == 2
