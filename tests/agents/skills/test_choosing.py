"""What chooses for the engine: the same answer for the same task, from routers that stay ready."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from agents.organisation import Skill
from agents.skills import Reach, SkillChooser
from contracts import PlanDefinition, Step
from runtime.errors import NotFound
from runtime.search import EmbedderUnavailable
from runtime.settings.models import SkillSettings
from tests.fakes.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

PLAN = PlanDefinition(steps=(Step(id="a", use="python"),))
TWO = SkillSettings(all_up_to=0, extended_shown=2)
MEANINGS = {"money": ("invoice", "欠钱"), "work": ("shifts", "加班")}


def skill(name: str, description: str, reach: Reach = Reach.EXTENDED, rule: str = "") -> Skill:
    return Skill(name, description, PLAN, Path(), reach=reach, show_when=rule)


SKILLS = {
    each.name: each
    for each in (
        skill("roster", "Plans shifts."),
        skill("remind", "Reminds of each unpaid invoice."),
        skill("paint", "Paints doors."),
        skill("ask-people", "Asks somebody.", Reach.CORE),
        skill("audit", "Audits.", Reach.LONG_TAIL, "employee == 'clerk' && goal.contains('audit')"),
    )
}
OWNED = {"clerk": tuple(SKILLS), "painter": ("paint",)}


def chooser(embedder: FakeEmbedder | None = None) -> SkillChooser:
    return SkillChooser(SKILLS, OWNED, embedder=embedder, settings=TWO)


async def test_core_then_what_fits_then_what_a_rule_calls_for_each_with_its_reason() -> None:
    shown = await chooser().for_step("clerk", "Audit each unpaid invoice and the shifts")

    assert shown.names == ("ask-people", "remind", "roster", "audit")
    assert [shown.reasons[name] for name in shown.names[:2]] == ["core", "fits"]
    assert shown.reasons["audit"] == f"rule: {SKILLS['audit'].show_when}"
    assert shown.left_out == ("paint",)


async def test_an_employee_is_shown_its_own_skills_unless_others_are_named() -> None:
    assert (await chooser().for_step("painter", "Paint the shifts")).names == ("paint",)
    assert (await chooser().for_step("painter", "Paint the shifts", ["roster", "paint"])).names == ("paint", "roster")


@pytest.mark.parametrize(("employee", "among"), [("nobody", None), ("clerk", ["fly"])])
async def test_who_or_what_there_is_not_is_told(employee: str, among: list[str] | None) -> None:
    with pytest.raises(NotFound, match=r"nobody|fly"):
        await chooser().for_step(employee, "anything", among)


async def test_skills_are_embedded_once_and_the_same_task_not_again() -> None:
    embedder = FakeEmbedder(MEANINGS)
    choice = chooser(embedder)
    first = await choice.for_step("clerk", "谁欠钱")
    embedded, asked = len(embedder.embedded), len(embedder.asked)

    assert await choice.for_step("clerk", "谁欠钱") == first
    await choice.for_step("clerk", "谁加班")

    assert "remind" in first.names
    assert (len(embedder.embedded), len(embedder.asked)) == (embedded, asked + 1)


async def test_employees_and_choices_of_skills_share_what_was_embedded() -> None:
    embedder = FakeEmbedder(MEANINGS)
    choice = chooser(embedder)
    await choice.for_step("clerk", "谁欠钱")
    embedded = list(embedder.embedded)

    await choice.for_step("painter", "谁欠钱", ["roster", "remind"])

    assert embedder.embedded == embedded


async def test_without_vectors_words_decide_and_the_answer_and_the_log_say_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    embedder = FakeEmbedder(MEANINGS)
    embedder.failure = EmbedderUnavailable("the endpoint is away")
    with caplog.at_level(logging.WARNING):
        shown = await chooser(embedder).for_step("clerk", "unpaid shifts")

    assert set(shown.names) == {"ask-people", "remind", "roster"}
    assert shown.without_meaning == "the endpoint is away"
    assert "by their words alone: the endpoint is away" in caplog.text


async def test_the_log_says_it_once_as_long_as_it_is_for_the_same_reason(caplog: pytest.LogCaptureFixture) -> None:
    embedder = FakeEmbedder(MEANINGS)
    choice = chooser(embedder)
    for why in ("away", "away", None, "away", "refused"):
        embedder.failure = None if why is None else EmbedderUnavailable(why)
        await choice.for_step("clerk", f"unpaid shifts {len(embedder.asked)}")

    assert [record.args for record in caplog.records] == [("away",), ("away",), ("refused",)]


async def test_an_answer_without_meaning_is_not_remembered() -> None:
    embedder = FakeEmbedder(MEANINGS)
    choice = chooser(embedder)
    embedder.failure = EmbedderUnavailable("away")
    assert "remind" not in (await choice.for_step("clerk", "谁欠钱")).names

    embedder.failure = None
    assert "remind" in (await choice.for_step("clerk", "谁欠钱")).names
