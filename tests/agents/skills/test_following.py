"""A model follows a foreign skill, through the engine: its instructions are read when the step begins, not before."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.organisation import Skill, load
from agents.skills.reading import SPEC, ReadSkill
from contracts import OrderState, TaskOrder
from runtime.capabilities.builtin import builtin_specs
from runtime.capabilities.port import CapabilitySpec
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import World
from tests.fakes.model import ScriptedModel, calls, control, says
from tests.stores import clock, sqlite_store

pytestmark = pytest.mark.anyio

__all__ = ["clock", "sqlite_store"]

ORGANISATION = """\
name: house
time_zone: UTC
head: {id: head, title: Head, skills: [sql-review]}
"""


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    folder = tmp_path / "house"
    foreign = Path(__file__).parents[1] / "organisation" / "foreign" / "sql-review"
    shutil.copytree(foreign, folder / "skills" / "sql-review")
    (folder / "org.yaml").write_text(ORGANISATION)
    builtin: Mapping[str, CapabilitySpec] = {spec.name: spec for spec in (*builtin_specs(), SPEC)}
    return load(folder, builtin=builtin, environ={}).skills["sql-review"]


def a_world(store: SqlStore, clock: HandClock, skill: Skill, model: ScriptedModel) -> tuple[World, TaskOrder]:
    world = World(store, clock, ReadSkill({skill.name: skill.files}))
    world.model = model
    order = world.order({"id": "a", "use": "a"}).model_copy(
        update={"plan": skill.plan, "inputs": {"task": "Review the query of the week."}, "skill": skill.name}
    )
    return world, order


async def test_it_reads_the_instructions_then_what_they_name(
    sqlite_store: SqlStore, clock: HandClock, skill: Skill
) -> None:
    list_of_rules = {"file": "references/checklist.md"}
    model = ScriptedModel(
        calls(("skills_read", {})), calls(("skills_read", list_of_rules)), says("No index is missing.")
    )
    world, order = a_world(sqlite_store, clock, skill, model)

    report = await world.run(order)

    assert report.state is OrderState.DONE, report
    first, second, third = (str(request.messages) for request in model.requests)
    assert "Reviews SQL for correctness" in first and "Review the query of the week." in first
    assert "completely before you begin" not in first
    assert "completely before you begin" in second and "Rule 1:" not in second
    assert "Rule 1:" in third and '"parts":' in third


async def test_the_model_cannot_read_another_skill(sqlite_store: SqlStore, clock: HandClock, skill: Skill) -> None:
    model = ScriptedModel(calls(("skills_read", {"skill": "other"})), control("blocked", reason="No."))
    world, order = a_world(sqlite_store, clock, skill, model)

    await world.run(order)

    assert "There is no `skill` here." in model.told[0]["content"]


async def test_without_having_read_the_instructions_it_is_not_done(
    sqlite_store: SqlStore, clock: HandClock, skill: Skill
) -> None:
    model = ScriptedModel(says("Looks fine."), calls(("skills_read", {})), says("Looks fine."))
    world, order = a_world(sqlite_store, clock, skill, model)

    report = await world.run(order)

    assert report.state is OrderState.DONE
    assert "skills.read" in model.requests[1].messages[-1]["content"]
