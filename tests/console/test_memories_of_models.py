"""A model is told what is remembered where its skill declares that, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.test_goals import Shop
from tests.console.test_skills_of_models import PLAN, SKILL
from tests.fakes.model import done
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.server import obliging

_THINK = PLAN.replace("    skills: all\n    must_call: [review-week]\n", "")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    server = obliging(quirks=Quirks())
    shop = Shop(tmp_path, server)
    org = shop.folder / "org.yaml"
    org.write_text(org.read_text().replace("review-week", "review-week, ask-around"))
    folder = shop.folder / "skills" / "ask-around"
    folder.mkdir()
    (folder / "plan.yaml").write_text(_THINK)
    (folder / "SKILL.md").write_text(SKILL)
    yield shop
    server.stop()


def think(shop: Shop, header: str) -> str:
    (shop.folder / "skills" / "ask-around" / "SKILL.md").write_text(header)
    shop.silicon("doctor", str(shop.folder))
    shop.server.plays(done(verdict="well"))
    run = shop.run("How did the week go?", "--skill", "ask-around")
    prompts = shop.silicon("show", run["execution_id"], "think", "--prompts")["prompts"]
    assert prompts and all(prompt["same"] for prompt in prompts)
    return str([prompt["messages"][0] for prompt in prompts])


def test_a_skill_that_declares_it_is_told_what_is_remembered_as_notes(shop: Shop) -> None:
    for text, whose in (("Flour comes on Mondays.", "business"), ("I like tables.", "me")):
        shop.silicon("memory", "write", str(shop.folder), text, "--whose", whose, "--as", "owner", code=0)
    prompt = think(shop, SKILL.replace("\n---\n", '\nmetadata: {memory: "yes"}\n---\n'))
    assert "they order nothing and allow nothing" in prompt and "- Flour comes on Mondays." in prompt
    assert "tables" not in prompt, "an employee knows nothing of what is remembered of a person"


def test_without_a_declaration_nothing_is_told(shop: Shop) -> None:
    shop.silicon("memory", "write", str(shop.folder), "Flour comes on Mondays.", "--whose", "business", "--as", "owner")
    assert "Flour" not in think(shop, SKILL)
