from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from agents.employee.planning.proposal import MOST_STEPS, ProposalFaulty, plan_of, require_sound, schema_for
from contracts import StepMode
from tests.agents.employee.staff import FakeNode, FakeStaff, department


def faults_of(*steps: Any, staff: FakeStaff | None = None, below: str = "head") -> str:
    """Return what is wrong with a proposal, empty for nothing."""
    firm = staff or department()
    node = next(node for node in _everyone(firm.head) if node.id == below)
    try:
        require_sound(plan_of(list(steps)), firm, node)
    except ProposalFaulty as error:
        return error.message
    return ""


def _everyone(node: FakeNode) -> list[FakeNode]:
    return [node, *(each for below in node.manages for each in _everyone(below))]


def test_steps_become_a_plan_of_work_for_others() -> None:
    steps = [
        {"id": "first", "skill": "explain", "with": {"origin": "EWR"}},
        {"id": "then", "skill": "review", "by": "other-desk", "after": ["first"], "with": {}},
    ]
    plan = plan_of(steps)  # type: ignore[arg-type]
    assert [(step.id, step.mode, step.skill, step.by, step.after) for step in plan.steps] == [
        ("first", StepMode.EMPLOYEE, "explain", None, ()),
        ("then", StepMode.EMPLOYEE, "review", "other-desk", ("first",)),
    ]
    assert faults_of(*steps) == ""


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"id": "a", "skill": "explan", "with": {"origin": "EWR"}}], "Did you mean `explain`?"),
        ([{"id": "a", "skill": "explain"}], "origin"),
        ([{"id": "a", "skill": "explain", "with": {"origin": "EWR", "planet": "Mars"}}], "planet"),
        ([{"id": "a", "skill": "review", "by": "nobody"}], "nobody"),
        ([{"id": "a", "skill": "review", "after": ["b"]}], "b"),
        ([{"id": "a", "skill": "review", "after": ["a"]}], "a"),
        ([{"id": "a", "skill": "review", "after": ["b"]}, {"id": "b", "skill": "review", "after": ["a"]}], "ring"),
        ([{"id": "a", "skill": "explain", "with": {"origin": "{{ c.text }}"}}], "There is no parameter or step `c`"),
        ([{"id": "a", "skill": "review"}, {"id": "a", "skill": "review"}], "Two steps have the id a"),
        ([{"id": "a", "skill": "review", "by": "middle"}], "neither middle nor anybody below has the skill review"),
        ([{"id": "A b", "skill": "review"}], "step A b"),
        (["look"], "number 1"),
        ([], "one step at least"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_out_is_told(steps: list[Any], told: str) -> None:
    assert told in faults_of(*steps)


def test_all_faults_are_told_at_once() -> None:
    message = faults_of({"id": "a", "skill": "nothing"}, {"id": "b", "skill": "review", "after": ["gone"]})
    assert "nothing" in message
    assert "gone" in message


def test_of_very_many_faults_some_are_told() -> None:
    message = faults_of({"id": "a", "skill": "review", "after": [f"s{n}" for n in range(100)]})
    assert "more." in message
    assert len(message) < 8_000


def test_nobody_plans_for_those_above() -> None:
    assert "review" in faults_of({"id": "a", "skill": "review"}, below="middle")


def test_who_does_it_has_to_be_said_where_two_could() -> None:
    firm = department()
    twins = tuple(FakeNode(name, skills=("review",)) for name in ("left", "right"))
    firm = replace(firm, head=FakeNode("head", manages=twins))
    assert "left and right both have the skill review" in faults_of({"id": "a", "skill": "review"}, staff=firm)
    assert faults_of({"id": "a", "skill": "review", "by": "left"}, staff=firm) == ""


def test_the_schema_names_the_skills_and_employees_that_there_are() -> None:
    firm = department()
    schema = schema_for(firm, firm.head)
    jsonschema.Draft202012Validator.check_schema(schema)
    fits = jsonschema.Draft202012Validator(schema).is_valid
    assert fits({"steps": [{"id": "a", "skill": "explain", "by": "desk", "with": {"origin": "EWR"}}]})
    assert not fits({"steps": [{"id": "a", "skill": "invented"}]})
    assert not fits({"steps": [{"id": "a", "skill": "explain", "by": "invented"}]})
    assert not fits({"steps": [{"id": f"s{n}", "skill": "explain"} for n in range(MOST_STEPS + 1)]})


def test_what_is_no_step_is_told_with_its_field() -> None:
    with pytest.raises(ProposalFaulty, match=r"step one: `after` must .*\n- step number 2: `id` is missing\."):
        plan_of([{"id": "one", "after": ["a.b("]}, {"skill": "look"}])
