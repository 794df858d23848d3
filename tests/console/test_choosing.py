"""Choosers stay ready, for each version of an organisation and each model that a run pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agents.organisation import EmployeeNode, Organisation, Skill
from agents.skills import ShowRule
from console.choosing import KEPT, SkillChoices
from console.meaning import Meanings
from contracts import Name, PlanDefinition, Step
from runtime.model.embedding import EndpointEmbedder
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.settings.models import ModelSettings, SkillSettings

pytestmark = pytest.mark.anyio

PLAN = PlanDefinition(steps=(Step(id="a", use="python"),))
SKILLS = {name: Skill(name, f"Does {name}.", PLAN, Path()) for name in ("paint", "plaster")}
ORGANISATION = Organisation(
    "shop", Path(), EmployeeNode("head", manages=(EmployeeNode("painter", skills=("paint",)),)), skills=SKILLS,
    show=(ShowRule(("paint",), "goal.contains('door')"),),
)  # fmt: skip


def of_endpoint(organisation: Name, names: Mapping[str, str]) -> EndpointEmbedder | None:
    if "embed" not in names:
        return None
    endpoint = Endpoint("http://models.test/v1", None, stalled_s=1)
    return EndpointEmbedder(endpoint, names["embed"], limiter=LocalLimiter(1), settings=ModelSettings())


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SkillChoices:
    monkeypatch.setattr("console.meaning.local_embedder", lambda: None)
    return SkillChoices(Meanings(of_endpoint, tmp_path), SkillSettings(all_up_to=0))


async def test_employees_are_shown_their_own_skills_by_the_rules_of_their_organisation(choices: SkillChoices) -> None:
    shown = await choices.of(ORGANISATION, {}).for_step("painter", "The door")
    assert shown.names == ("paint",)
    assert shown.reasons["paint"] == "rule: goal.contains('door')"
    assert (await choices.of(ORGANISATION, {}).for_step("head", "The door")).names == ()


async def test_the_same_version_and_model_have_the_same_chooser(choices: SkillChoices) -> None:
    first = choices.of(ORGANISATION, {"embed": "m"})
    assert choices.of(ORGANISATION, {"embed": "m", "reason": "r"}) is first
    assert choices.of(ORGANISATION, {"embed": "other"}) is not first


async def test_a_new_version_of_the_organisation_has_its_own_skills(choices: SkillChoices) -> None:
    before = choices.of(ORGANISATION, {})
    now = replace(ORGANISATION, skills={"plaster": SKILLS["plaster"]})
    assert choices.of(now, {}) is not before
    assert choices.of(ORGANISATION, {}) is before, "executions of both go on"
    assert (await choices.of(now, {}).for_step("head", "plaster", ["plaster"])).names == ("plaster",)


async def test_versions_that_were_not_used_for_long_are_given_up(choices: SkillChoices) -> None:
    first = choices.of(ORGANISATION, {})
    for _ in range(KEPT):
        choices.of(replace(ORGANISATION), {})
    assert choices.of(ORGANISATION, {}) is not first
