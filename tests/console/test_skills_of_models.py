"""A model has a skill of the organisation done, from the command line to the end, over a decision in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.test_goals import EMBEDDING, Shop
from tests.fakes.model import calls, done
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.script import fails
from tests.fakes.openai_server.server import CHAT, EMBEDDINGS, obliging

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


def offered(shop: Shop) -> list[dict[str, Any]]:
    return [event["data"] for event in shop.silicon("events")["events"] if event["type"].endswith("tools.offered")]


def test_a_step_is_shown_its_skills_by_words_where_there_are_no_vectors_and_the_ledger_says_why(shop: Shop) -> None:
    shop.server.when(lambda asked: asked.path == EMBEDDINGS, fails(503, "starting up"))
    shop.server.plays(calls(("review-week", {})))
    assert shop.run("How did the week go?", "--skill", "ask-around", **EMBEDDING)["state"] == "waiting"

    (told,) = offered(shop)

    assert told["skills"] == ["review-week"]
    assert "503" in told["without_meaning"]


def test_a_step_that_goes_on_keeps_the_skills_that_it_was_shown_whatever_the_endpoint_does(shop: Shop) -> None:
    shop.server.plays(calls(("review-week", {})), done(verdict="well"))
    waiting = shop.run("How did the week go?", "--skill", "ask-around", **EMBEDDING)
    embedded = shop.server.count(EMBEDDINGS)
    assert embedded > 0
    shop.server.when(lambda asked: asked.path == EMBEDDINGS, fails(500))

    shop.silicon("approvals", "decide", waiting["cards"][0]["id"], "nothing", "--as", "owner", **EMBEDDING)

    (told,) = offered(shop)
    assert "without_meaning" not in told
    first, second = (asked.tool_names for asked in shop.server.chats[-2:])
    assert first == second
    assert shop.server.count(EMBEDDINGS) == embedded


def test_what_the_model_was_told_is_shown_part_by_part(shop: Shop) -> None:
    shop.server.plays(calls(("review-week", {})), done(verdict="well"))
    waiting = shop.run("How did the week go?", "--skill", "ask-around")

    (first,) = shop.silicon("show", waiting["execution_id"], "--prompts")["prompts"]
    assert shop.silicon("show", waiting["execution_id"], "think", "--prompts")["prompts"] == [first]

    assert (first["step"], first["answer"], first["same"]) == ("think", 1, True)
    origins = {part["origin"]: part for message in first["messages"] for part in message["parts"]}
    assert origins["employee shop-head"]["text"].startswith("You work as Head of the shop (shop-head) of bakery.")
    assert origins["the order"]["pinned"] and origins["the order"]["block"] == "goal"
    assert first["tools"] == ["review-week", "step_control"]
    sent = shop.server.chats[-1].json["messages"]
    assert sent[0]["content"] == "\n\n".join(part["text"] for part in first["messages"][0]["parts"])


def test_prompts_of_a_model_that_never_answered_are_none_and_those_of_an_unknown_step_are_refused(shop: Shop) -> None:
    shop.server.when(lambda asked: asked.path == CHAT, fails(400, "no"))
    ended = shop.run("How did the week go?", "--skill", "ask-around")

    assert shop.silicon("show", ended["execution_id"], "think", "--prompts") == {"prompts": []}

    refused = shop.silicon("show", ended["execution_id"], "thinking", "--prompts", code=2)
    assert refused["error"]["code"] == "NOT_FOUND" and "think" in refused["error"]["message"]
