from __future__ import annotations

from pathlib import Path

import pytest

from agents.organisation import Skill, route
from contracts import PlanDefinition, Step

PLAN = PlanDefinition(steps=(Step(id="a", use="python"),))


def skill(name: str, *words: str, when: str = "", not_when: str = "") -> Skill:
    return Skill(name, "", PLAN, Path(), words=words, when_to_use=when, when_not_to_use=not_when)


CANCEL = skill(
    "explain-cancellations", "cancelled flights", "cancellation", "storm", "取消", when="Weather closes an airport."
)
DELAY = skill(
    "explain-delays", "delay", "late", "晚点", "延误", when="Aircraft leave late.", not_when="Flights are cancelled."
)
SKILLS = [DELAY, CANCEL]


@pytest.mark.parametrize(
    ("goal", "chosen"),
    [
        ("Explain the cancellations of 2013-02-08", "explain-cancellations"),
        ("Why were the Cancelled  Flights so many?", "explain-cancellations"),
        ("Explain the delays on Friday", "explain-delays"),
        ("2013-02-08 为什么取消这么多航班", "explain-cancellations"),
        ("今天延误严重", "explain-delays"),
        ("The airport closes because of the weather", "explain-cancellations"),
        ("Book a table for two", None),
        ("Flights were cancelled", "explain-cancellations"),
        ("cancel", "explain-cancellations"),
        ("", None),
        ("Delays and cancellations", None),
        ("Delays and cancellations in the storm", "explain-cancellations"),
    ],
)
def test_the_words_of_the_goal_decide(goal: str, chosen: str | None) -> None:
    assert route(goal, SKILLS).skill == chosen


def test_equals_are_listed_for_a_person_to_choose() -> None:
    found = route("Delays and cancellations", SKILLS)

    assert [fit.skill for fit in found.tied] == ["explain-cancellations", "explain-delays"]
    assert found.tied[0].found == ("cancellation",)


def test_without_any_fit_all_skills_are_listed() -> None:
    found = route("Book a table", SKILLS)

    assert (found.skill, found.tied) == (None, ())
    assert [fit.skill for fit in found.fits] == ["explain-cancellations", "explain-delays"]


def test_one_word_in_two_endings_counts_once() -> None:
    assert route("cancellations", [skill("a", "cancellation", "cancellations")]).fits[0].score == 1


def test_the_order_of_skills_does_not_matter() -> None:
    assert route("Delays in the storm", SKILLS).fits == route("Delays in the storm", SKILLS[::-1]).fits
