"""That a model is being asked is seen while it is: in progress, among followed events, and when it is shown."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from console.cli.render.queued import AGAIN, Waits, WaitsTold, asked_words, waits_lines
from console.progress import Progress
from console.starter.make import make
from console.texts import LANGUAGES, say_in
from console.views import ModelAsked, StepState
from contracts import Event
from tests.fakes import console_application as fake
from tests.fakes.console_values import ROOT
from tests.fakes.model import says
from tests.fakes.openai_server.script import held
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging
from tests.silicon import warm_silicon

NOW = datetime(2013, 2, 8, 22, tzinfo=UTC)
SIGN = ModelAsked(str(ROOT), "choose", None, "reason", "some-model", False, NOW, version=50)
QUESTION = "Who are you?"


def test_it_is_said_who_is_asked_and_for_how_long() -> None:
    now = NOW + timedelta(seconds=12)
    words = [asked_words(SIGN, now, say_in(language)) for language in LANGUAGES]
    waits = [asked_words(replace(SIGN, waits=True), now, say_in(language)) for language in LANGUAGES]

    assert words[0] == "asks the model some-model (reason), for 12\N{NO-BREAK SPACE}s now"
    assert waits[0].startswith("waits for its turn at the model some-model")
    assert len({*words, *waits}) == 4


def test_it_is_said_once_and_again_after_a_while() -> None:
    told, other = WaitsTold(), replace(SIGN, waits=True)

    def news(after: timedelta, *signs: ModelAsked) -> list[ModelAsked]:
        return [
            sign for _, sign in told.news(Waits(NOW + after, asked=[("desk/choose", each) for each in signs])).asked
        ]

    assert news(timedelta(), SIGN) == [SIGN]
    assert news(AGAIN / 2, SIGN, other) == [other]
    assert news(AGAIN, SIGN, other) == [SIGN]
    assert news(AGAIN, other) == []


def test_a_crowd_that_asks_takes_four_lines() -> None:
    asked = [("desk/choose", replace(SIGN, index=index)) for index in range(20)]
    lines = [line.plain.strip() for line in waits_lines(Waits(NOW, asked=asked), say_in("en"))]

    assert (len(lines), lines[-1]) == (4, "and 17 more steps")


def later(version: int, **more: Any) -> Event:
    first = fake.events()[1]
    data = {"step": "choose", "index": None, "answer": 1, **more.pop("data", {})}
    facts = {"position": 99, "subject": str(ROOT), "stream_version": version, "type": "model.answered", "data": data}
    return first.model_copy(update={**facts, **more})


@pytest.mark.parametrize(
    ("event", "holds"),
    [
        (later(51), False),
        (later(51, type="model.unreachable"), False),
        (later(50), True),
        (later(51, data={"step": "measure"}), True),
        (later(51, data={"index": 0}), True),
        (later(1, subject="execution/1", type="execution.resumed", time=NOW + timedelta(seconds=1), data={}), False),
    ],
    ids=["answered", "unreachable", "before", "another step", "another repetition", "resumed"],
)
def test_a_sign_holds_until_an_event_overtakes_it(event: Event, holds: bool) -> None:
    progress = Progress()
    for each in fake.events()[:2]:
        progress.apply(each)
    assert progress.holds(SIGN)
    progress.apply(event)

    assert progress.holds(SIGN) is holds


def test_a_step_whose_model_is_asked_is_under_way_before_any_event_says_so() -> None:
    progress = Progress()
    for each in fake.events()[:2]:
        progress.apply(each)
    assert progress.root is not None and progress.root.steps["choose"].state is StepState.PENDING

    assert progress.take_in(SIGN) == "operations-head/choose"
    assert (progress.root.steps["choose"].state, progress.root.steps["choose"].started) == (StepState.RUNNING, NOW)


class Shop:
    """A starter organisation whose model takes its time."""

    def __init__(self, folder: Path, server: OpenAIServer) -> None:
        self.folder = folder / "bakery"
        make(self.folder)
        self._environment = {
            **os.environ, "SILICON_HOME": str(folder / "home"), "OPENAI_BASE_URL": server.base_url,
            "SILICON_MODEL__REASON": MODEL, "SILICON_LANGUAGE": "en",
        }  # fmt: skip

    @contextmanager
    def starts(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [warm_silicon(), *arguments], env=self._environment, cwd=self.folder.parent,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def silicon(self, *arguments: str) -> str:
        with self.starts(*arguments) as process:
            return process.communicate(timeout=60)[0]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    server = obliging()
    yield server
    server.stop()


@pytest.fixture
def shop(tmp_path: Path, server: OpenAIServer) -> Shop:
    shop = Shop(tmp_path, server)
    shop.silicon("doctor", str(shop.folder))  # the endpoint is known from then on
    return shop


def test_each_way_to_look_tells_that_the_model_is_asked(shop: Shop, server: OpenAIServer) -> None:
    server.plays(held(says("I am the head of the shop.")))
    with shop.starts("events", "--follow") as following, shop.starts("run", str(shop.folder), QUESTION) as running:
        assert running.stderr is not None and following.stdout is not None
        assert "endpoint.probed" in following.stdout.readline()
        line = next(line for line in running.stderr if "asks the model" in line)
        (row,) = json.loads(shop.silicon("runs", "--json"))["executions"]
        shown, whole = (
            shop.silicon("show", row["execution_id"]),
            json.loads(shop.silicon("show", row["execution_id"], "--json")),
        )
        server.release()
        ended = running.communicate(timeout=60)[0]
        streamed = next(line for line in following.stdout if "model.asked" in line)

    assert f"asks the model {MODEL} (reason)" in line
    assert f"asks the model {MODEL} (reason)" in shown
    assert whole["root"]["steps"][0]["asked"]["model"] == MODEL and whole["root"]["steps"][0]["state"] == "running"
    assert streamed.split()[0] == "·" and MODEL in streamed
    assert "I am the head of the shop." in ended


def test_what_was_killed_asks_nobody(shop: Shop, server: OpenAIServer) -> None:
    server.plays(held(says("never")))
    with shop.starts("run", str(shop.folder), QUESTION) as running:
        assert running.stderr is not None
        next(line for line in running.stderr if "asks the model" in line)
    (row,) = json.loads(shop.silicon("runs", "--json"))["executions"]

    assert "asks the model" not in shop.silicon("show", row["execution_id"])
