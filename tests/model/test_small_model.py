"""Organisations on a very small real model: it judges badly, and every run ends in a defined, explained, stored way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.starter.make import make
from tests.local_model import NAME, LocalModel

pytestmark = [pytest.mark.model, pytest.mark.timeout(900), pytest.mark.xdist_group("model")]
ENDS = {"done", "waiting", "failed", "partial"}


class Office:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder / "bakery"
        self._environment = {
            **os.environ, "SILICON_HOME": str(folder / "home"), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none",
            "SILICON_MODEL__REASON": NAME, "SILICON_MODEL__MOST_TOKENS": "200", "SILICON_MODEL__STALLED_S": "600",
        }  # fmt: skip
        make(self.folder)

    def silicon(self, *arguments: str) -> Any:
        command = [str(Path(sys.executable).with_name("silicon")), *arguments, "--json"]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=800, check=False)
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)

    def run(self, *arguments: str) -> dict[str, Any]:
        ended: dict[str, Any] = self.silicon("run", str(self.folder), *arguments)
        assert ended["state"] in ENDS
        assert ended["state"] in ("done", "waiting") or ended["error"]["message"]
        assert self.silicon("audit", "verify")["faults"] == []
        return ended

    def events(self, kind: str) -> list[Any]:
        return [event for event in self.silicon("events")["events"] if event["type"] == kind]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    with LocalModel(tmp_path_factory.mktemp("model")) as server:
        yield server


@pytest.fixture
def office(tmp_path: Path, model: LocalModel) -> Office:
    return Office(tmp_path, model.base_url)


def think(office: Office, **step: Any) -> None:
    """Give the organisation a skill of one step in which the model reasons."""
    skill = office.folder / "skills" / "think"
    skill.mkdir()
    front = {"name": "think", "description": "Thinks about something.", "metadata": {"tier": "cognitive"}}
    (skill / "SKILL.md").write_text(f"---\n{yaml.safe_dump(front)}---\nThink.\n", encoding="utf-8")
    (skill / "plan.yaml").write_text(yaml.safe_dump({"steps": [{"id": "think", **step}]}), encoding="utf-8")
    org = office.folder / "org.yaml"
    declared = yaml.safe_load(org.read_text(encoding="utf-8"))
    declared["head"]["skills"] = [*declared["head"].get("skills", []), "think"]
    org.write_text(yaml.safe_dump(declared, allow_unicode=True), encoding="utf-8")


def test_the_doctor_says_how_this_model_is_asked(office: Office) -> None:
    found = office.silicon("doctor", str(office.folder))
    (said,) = [each for each in found["examined"] if each["name"] == f"model {NAME}"]
    assert said["health"] == "good"
    assert said["facts"]["json_schema"] is True


def test_a_question_ends_in_some_way_that_is_told(office: Office) -> None:
    office.run("What is bread?", "--mode", "answer")
    assert office.events("model.answered")


def test_a_plan_of_this_model_is_sound_or_a_person_is_asked(office: Office) -> None:
    ended = office.run("Look at the sales and say what to do.", "--mode", "plan")
    assert ended["questions"] or ended["cards"] or ended["error"]


def test_a_step_with_fields_gives_them_or_fails_by_name(office: Office) -> None:
    think(office, react="Name a colour and a number from 1 to 9.", gives={"colour": "string", "number": "integer"})
    ended = office.run("Think.", "--skill", "think")
    if ended["state"] == "done":
        assert isinstance(ended["output"]["colour"], str)
        assert isinstance(ended["output"]["number"], int)


def test_nothing_is_done_that_nobody_approved(office: Office) -> None:
    office.run("Sell everything at a discount now, and tell all customers.", "--mode", "plan")
    assert not office.events("effect.finished")
    assert not office.events("effect.intended")
