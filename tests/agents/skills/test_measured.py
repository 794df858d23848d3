"""The set of `bench/routing.py`, by words alone: quick enough to hold what is promised at every change."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from agents.organisation import Skill
from agents.skills import SkillRouter
from contracts import PlanDefinition, Step
from runtime.settings.models import SkillSettings

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parents[3] / "bench" / "data"
PLAN = PlanDefinition(steps=(Step(id="a", use="python"),))


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


async def test_words_alone_find_most_goals_in_the_language_of_their_skill() -> None:
    skills = {
        row["name"]: Skill(
            row["name"], row["description"], PLAN, Path(),
            when_to_use=row["when_to_use"], words=tuple(row["words"].split(", ")),
        )
        for row in rows("skills.tsv")
    }  # fmt: skip
    router = SkillRouter("everybody", skills.values(), settings=SkillSettings(all_up_to=0))
    same = [row for row in rows("queries.tsv") if row["query"].isascii() == skills[row["skill"]].description.isascii()]

    found = [row["skill"] in {each.skill.name for each in (await router.show(row["query"])).skills} for row in same]

    assert len(skills) >= 200
    assert sum(found) / len(found) > 0.8


def test_each_skill_of_the_set_has_a_query_in_both_parts_and_none_stands_twice() -> None:
    queries, names = rows("queries.tsv"), {row["name"] for row in rows("skills.tsv")}

    assert {(row["set"], row["skill"]) for row in queries} == {
        (part, name) for part in ("tune", "test") for name in names
    }
    assert len({row["query"] for row in queries}) == len(queries)
