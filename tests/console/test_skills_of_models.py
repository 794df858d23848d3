"""A model has a skill of the organisation done, from the command line to the end, over a decision in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.test_goals import Shop
from tests.fakes.model import calls, done
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.server import obliging

SKILL = "---\nname: ask-around\ndescription: Finds out how things went, whoever knows.\n---\n"
PLAN = """
steps:
  - id: think
    react: How did the week go?
    skills: all
    must_call: [review-week]
    gives: {verdict: string}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    server = obliging(quirks=Quirks())
    shop = Shop(tmp_path, server)
    folder = shop.folder / "skills" / "ask-around"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "plan.yaml").write_text(PLAN)
    org = shop.folder / "org.yaml"
    text = org.read_text()
    assert text.count("review-week") == 1
    org.write_text(text.replace("review-week", "review-week, ask-around"))
    shop.silicon("doctor", str(shop.folder))  # the endpoint is known from then on
    yield shop
    server.stop()


def test_a_skill_that_a_model_calls_waits_for_its_decision_and_the_model_goes_on_with_what_came_of_it(
    shop: Shop,
) -> None:
    """D3: a pause deep in a tree; finished work is served from the ledger at every depth."""
    assert shop.silicon("check", str(shop.folder), code=0)
    asked = len(shop.server.asked)
    shop.server.plays(calls(("review-week", {})), done(verdict="well"))
    waiting = shop.run("How did the week go?", "--skill", "ask-around")
    assert waiting["state"] == "waiting" and len(waiting["cards"]) == 1
    tree = shop.silicon("show", waiting["execution_id"])
    assert tree["root"]["steps"][0]["orders"][0]["skill"] == "review-week"

    ended = shop.silicon("approvals", "decide", waiting["cards"][0]["id"], "nothing", "--as", "owner")

    assert (ended["execution"]["state"], ended["execution"]["output"]) == ("done", {"verdict": "well"})
    assert len(shop.server.asked) == asked + 2
