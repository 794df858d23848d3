from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.employee.planning.complexity import complexity_of

QUESTIONS = ("What is a slot?", "How are you?", "你好", "Who decides about refunds?", "什么是租约？")
WORK = (
    "Compare the delays of EWR and JFK in February, then notify the duty manager and draft a report.",
    "Refund order 4711, notify the customer and update the ledger.",
    "汇总二月份的延误情况，然后通知值班经理，最后编写报告并发送。",
)


@pytest.mark.parametrize("goal", QUESTIONS)
def test_a_question_is_answered(goal: str) -> None:
    assert not complexity_of(goal, fitting=(), threshold=3).needs_plan


@pytest.mark.parametrize("goal", WORK)
def test_work_is_planned(goal: str) -> None:
    assert complexity_of(goal, fitting=(), threshold=3).needs_plan


def test_two_skills_that_fit_make_it_a_plan() -> None:
    assert complexity_of("Look at it", fitting=("explain", "review"), threshold=3).needs_plan


def test_the_parts_and_the_threshold_are_told() -> None:
    told = str(complexity_of("Notify Dana, then pay.", fitting=("explain",), threshold=3))
    assert "skills 2" in told
    assert "verbs 2" in told
    assert "a plan from 3 on" in told


@given(st.text(max_size=3_000))
def test_any_text_has_a_score_and_the_same_one_again(goal: str) -> None:
    one, again = (complexity_of(goal, fitting=(), threshold=3) for _ in range(2))
    assert one == again
    assert 0 <= one.score <= 20
