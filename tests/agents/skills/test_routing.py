from __future__ import annotations

from pathlib import Path

import pytest

from agents.organisation import Skill
from agents.skills import Reach, ShowRule, SkillRouter, Why, index_of
from contracts import PlanDefinition, Step
from runtime.settings.models import SkillSettings
from tests.fakes.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

PLAN = PlanDefinition(steps=(Step(id="a", use="python"),))
FEW = SkillSettings(all_up_to=0, extended_shown=2)


def skill(
    name: str, description: str = "", *words: str, when: str = "", reach: Reach = Reach.EXTENDED, rule: str = ""
) -> Skill:
    return Skill(name, description, PLAN, Path(), words=words, when_to_use=when, reach=reach, show_when=rule)


CORE = skill("ask-people", "Asks somebody.", reach=Reach.CORE)
BILLS = skill("pay-bills", "Pays bills of suppliers.", "账单", when="A supplier wants money.")
REMIND = skill("remind", "Reminds customers of unpaid invoices.", when="An invoice is overdue.")
ROSTER = skill("roster", "Plans shifts.", when="Who works next week?")
RECALL = skill("recall", "Takes products back.", "recall", "召回", reach=Reach.LONG_TAIL)
AUDIT = skill("audit", "Audits.", reach=Reach.LONG_TAIL, rule="employee == 'controller' && goal.contains('audit')")
ALL = [AUDIT, BILLS, CORE, RECALL, REMIND, ROSTER]


async def why(goal: str, employee: str = "clerk", settings: SkillSettings = FEW) -> dict[str, Why]:
    shown = await SkillRouter(employee, ALL, settings=settings).show(goal)
    return {each.skill.name: each.why for each in shown.skills}


async def test_core_comes_first_and_what_fits_follows_best_first() -> None:
    found = await why("Remind the supplier of the overdue invoices")

    assert list(found.items()) == [("ask-people", Why.CORE), ("remind", Why.FITS), ("pay-bills", Why.FITS)]


async def test_core_is_shown_even_for_a_goal_that_fits_nothing() -> None:
    assert await why("Paint the door") == {"ask-people": Why.CORE}


async def test_what_is_not_shown_is_named() -> None:
    shown = await SkillRouter("clerk", ALL, settings=FEW).show("Plan the shifts")

    assert shown.left_out == ("audit", "pay-bills", "recall", "remind")


async def test_a_skill_that_fits_says_by_which_words() -> None:
    shown = await SkillRouter("clerk", ALL, settings=FEW).show("Which invoices are overdue?")
    [found] = [each for each in shown.skills if each.why is Why.FITS]

    assert found.hit is not None
    assert set(found.hit.terms) == {"invoic", "overdu"}


@pytest.mark.parametrize("goal", ["We must RECALL the kettles", "召回这批水壶"])
async def test_the_long_tail_is_shown_when_one_of_its_words_stands_in_the_goal(goal: str) -> None:
    shown = await SkillRouter("clerk", ALL, settings=FEW).show(goal)

    assert [(each.skill.name, each.rule) for each in shown.skills if each.why is Why.RULE] in (
        [("recall", "recall")], [("recall", "召回")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("employee", "goal", "shown"),
    [
        ("controller", "Prepare the Audit", True),
        ("controller", "Pay the bills", False),
        ("clerk", "Prepare the audit", False),
    ],
)
async def test_a_rule_decides_over_goal_and_employee(employee: str, goal: str, shown: bool) -> None:
    assert ("audit" in await why(goal, employee)) is shown


@pytest.mark.parametrize("goal", ["Check the VAT of March", "核对三月增值税"])
async def test_a_rule_of_the_organisation_shows_skills_whatever_their_files_say(goal: str) -> None:
    rule = ShowRule(("remind", "audit", "ask-people", "elsewhere"), "goal.contains('vat') || goal.contains('增值税')")
    shown = await SkillRouter("clerk", ALL, rules=[rule], settings=FEW).show(goal)
    found = {each.skill.name: (each.why, each.rule) for each in shown.skills}

    assert found["remind"] == found["audit"] == (Why.RULE, rule.when)
    assert found["ask-people"] == (Why.CORE, "")
    assert "elsewhere" not in found


async def test_a_rule_of_the_organisation_that_does_not_hold_shows_nothing() -> None:
    rule = ShowRule(("audit",), "employee == 'controller'")
    shown = await SkillRouter("clerk", ALL, rules=[rule], settings=FEW).show("Paint the door")

    assert [each.skill.name for each in shown.skills] == ["ask-people"]


async def test_what_fits_and_is_called_for_is_shown_once() -> None:
    rule = ShowRule(("remind",), "goal.contains('invoices')")
    shown = await SkillRouter("clerk", ALL, rules=[rule], settings=FEW).show("Remind of the overdue invoices")

    assert [each.why for each in shown.skills if each.skill.name == "remind"] == [Why.FITS]


async def test_a_rule_that_cannot_be_worked_out_shows_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    broken = skill("broken", reach=Reach.LONG_TAIL, rule="goal.matches(employee)")

    shown = await SkillRouter("(", [broken]).show("anything")

    assert shown.left_out == ("broken",)
    assert "could not be worked out" in caplog.text


async def test_with_few_skills_all_but_the_long_tail_are_shown() -> None:
    found = await why("Paint the door", settings=SkillSettings(all_up_to=4))

    assert found == {"ask-people": Why.CORE, "pay-bills": Why.FEW, "remind": Why.FEW, "roster": Why.FEW}


async def test_an_embedder_finds_what_no_word_says() -> None:
    embedder = FakeEmbedder({"money": ("invoice", "欠钱"), "work": ("works", "shifts")})
    shown = await SkillRouter("clerk", ALL, index=index_of(ALL, embedder), settings=FEW).show("谁还欠钱")

    assert [each.skill.name for each in shown.skills][:2] == ["ask-people", "remind"]
