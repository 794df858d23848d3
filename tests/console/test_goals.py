"""A goal that no skill fits, from the command line to the end, with a model behind a real endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from console.starter.make import make
from tests.fakes.model import calls, says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.script import Reply, fails, hangs_up, sends, too_many
from tests.fakes.openai_server.server import EMBEDDINGS, MODEL, OpenAIServer, obliging
from tests.silicon import warm_silicon

WORK = "Compare last month with this one, then write to the supplier and prepare an order."
QUESTION = "Who are you?"
EMBEDDING = {"SILICON_MODEL__EMBED": MODEL, "SILICON_SKILLS__ALL_UP_TO": "0"}
PLAN = calls(("propose_plan", {"steps": [{"id": "look", "skill": "review-week"}]}))


class Shop:
    """A starter organisation, and commands that speak with a model."""

    def __init__(self, folder: Path, server: OpenAIServer) -> None:
        self.server = server
        self.folder = folder / "bakery"
        make(self.folder)
        self._environment = {
            **os.environ, "SILICON_HOME": str(folder / "home"), "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-canary-0815", "SILICON_MODEL__REASON": MODEL,
        }  # fmt: skip
        self.home = folder / "home"

    def silicon(self, *arguments: str, code: int | None = None, **environment: str) -> dict[str, Any]:
        done = subprocess.run(
            [warm_silicon(), *arguments, "--json"], env={**self._environment, **environment}, cwd=self.folder.parent,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def run(self, goal: str, *more: str, **environment: str) -> dict[str, Any]:
        return self.silicon("run", str(self.folder), goal, *more, **environment)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    server = obliging(quirks=Quirks())
    shop = Shop(tmp_path, server)
    shop.silicon("doctor", str(shop.folder))  # the endpoint is known from then on
    yield shop
    server.stop()


def test_a_question_is_answered_in_words(shop: Shop) -> None:
    shop.server.plays(says("I am the head of the shop."))
    ended = shop.run(QUESTION)
    assert (ended["state"], ended["output"]) == ("done", {"text": "I am the head of the shop."})
    assert ended["usage"]["tokens_out"] == 5


def test_work_is_planned_and_the_plan_carried_out(shop: Shop) -> None:
    shop.server.plays(PLAN)
    ended = shop.run(WORK)
    assert ended["state"] == "waiting"
    assert ended["products"]
    assert ended["cards"], "the skill that was planned asks its own question"


def test_skills_are_found_by_the_model_of_embeddings_which_is_asked_for_each_text_once(shop: Shop) -> None:
    def embedded_by(run: int) -> list[str]:
        before = len(shop.server.asked)
        shop.server.plays(PLAN)
        assert shop.run(WORK, **EMBEDDING)["state"] == "waiting", run
        asked = [asked.json["input"] for asked in shop.server.asked[before:] if asked.path == EMBEDDINGS]
        return [text for texts in asked for text in texts]

    assert len(embedded_by(1)) > 4
    assert embedded_by(2) == [WORK]


@pytest.mark.parametrize("answer", [fails(500), hangs_up(), too_many(3600), sends("{}")])
def test_a_model_of_embeddings_that_fails_leaves_the_goal_to_words_and_says_so(shop: Shop, answer: Reply) -> None:
    shop.server.when(lambda asked: asked.path == EMBEDDINGS, answer)
    shop.server.plays(PLAN)
    ended = shop.run(WORK, **EMBEDDING)
    assert (ended["state"], bool(ended["products"])) == ("waiting", True)
    assert shop.server.count(EMBEDDINGS) == 1
    assert "skills are found by their words alone" in (shop.home / "log.jsonl").read_text()
    assert "its skills were found by words alone, because" in str(shop.silicon("events"))


def test_a_proposal_of_what_there_is_not_never_runs(shop: Shop) -> None:
    invented = calls(("propose_plan", {"steps": [{"id": "look", "skill": "rob-the-bank"}]}))
    shop.server.plays(invented, invented, invented)
    ended = shop.run(WORK, "--mode", "plan")
    assert ended["state"] == "waiting"
    (question,) = ended["questions"]
    assert question["choices"] == ["review-week", "none of these"]
    told = shop.server.chats[-1].messages
    assert "rob-the-bank" in str(told)


def test_the_answer_to_the_question_is_the_plan(shop: Shop) -> None:
    shop.server.plays(*[says("I do not know.")] * 3)
    (question,) = shop.run(WORK, "--mode", "plan")["questions"]
    ended = shop.silicon("answer", question["id"], "review-week")
    assert ended["cards"]


def test_a_passing_fault_is_tried_again_and_stands_in_the_ledger(shop: Shop) -> None:
    shop.server.plays(too_many(0), hangs_up(), says("Here I am."))
    ended = shop.run(QUESTION)
    assert ended["output"] == {"text": "Here I am."}
    events = shop.silicon("events")
    assert str(events).count("model.unreachable") == 2


def test_the_model_of_an_execution_stays_the_one_it_began_with(shop: Shop) -> None:
    shop.server.plays(*[says("I do not know.")] * 3, says("never"))
    (question,) = shop.run(WORK, "--mode", "plan")["questions"]
    shop.silicon("answer", question["id"], "none of these", SILICON_MODEL__REASON="another")
    assert {asked.json["model"] for asked in shop.server.chats} == {MODEL}


def test_doctor_knows_how_often_the_model_was_corrected_in_processes_that_ended(shop: Shop) -> None:
    shop.server.plays(calls(("rob_the_bank", {})), PLAN, says("Done."), says("Hello."))
    shop.run(WORK, "--mode", "plan")
    shop.run(QUESTION, "--mode", "answer")

    told = {each["name"]: each for each in shop.silicon("doctor", str(shop.folder))["examined"]}

    assert told["tools"]["facts"] == {"(no such tool)": {"wrong": 1, "calls": 1}}
    (unknown,) = [each for each in told[f"defences {MODEL}"]["facts"]["defences"] if each["guard"] == "unknown_tool"]
    assert (unknown["fired"], unknown["of"], unknown["candidate"]) == (1, "calls", False)
    assert told[f"defences {MODEL}"]["what"].startswith("too little to judge guards by")


def test_money_without_a_price_asks_no_model(shop: Shop) -> None:
    asked = shop.server.count()
    ended = shop.run(QUESTION, "--budget-money", "1 USD")
    assert ended["error"]["code"] == "PRICE_UNKNOWN"
    assert shop.server.count() == asked


def test_without_a_model_a_goal_says_which_skills_there_are_and_a_mode_what_is_missing(shop: Shop) -> None:
    assert shop.run(QUESTION, SILICON_MODEL__REASON="")["error"]["code"] == "SKILL_UNCLEAR"
    assert shop.run(QUESTION, "--mode", "plan", SILICON_MODEL__REASON="")["error"]["code"] == "MODEL_REQUIRED"


def test_the_key_stands_nowhere(shop: Shop) -> None:
    shop.server.plays(PLAN)
    shop.run(WORK)
    files = [path for path in shop.home.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"canary-0815" in path.read_bytes()]
