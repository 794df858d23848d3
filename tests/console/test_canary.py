"""No secret stays anywhere: a run with a canary wherever secrets come from, and then every byte is looked at."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.starter.make import make
from tests.fakes.http_service import Answer, Asked, HttpService
from tests.fakes.model import calls, done
from tests.fakes.openai_server.script import fails, played
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging
from tests.silicon import warm_silicon

HEADER = "canary-header-7f3a9c1e5b"
"""Of a connection, from the environment."""
KEY = "sk-canary-model-0123456789abcdef"
"""Of the model's endpoint."""
NAMED = "canary-named-hunter2"
"""Nothing tells that it is one but the name of the field that it stands in."""
SHAPED = "ghp_canary4f5e6d7c8b9a0f1e2d3c"
"""Nothing tells that it is one but its shape."""
CANARIES = (HEADER, KEY, NAMED, SHAPED)
TOOLS = ["desk.look", "desk.refuse", "desk.fall"]


def answers(asked: Asked) -> Answer:
    """Tell every secret that the desk knows, as badly made services do."""
    assert asked.headers["Authorization"] == HEADER
    told = {"password": NAMED, "note": f"use {SHAPED}", "echo": f"you sent {HEADER}"}
    match asked.path:
        case "/look":
            return Answer(value=told)
        case "/refuse":
            return Answer(status=400, value={"error": f"{HEADER} may not, nor may {SHAPED}"})
    return Answer(status=500, value={"trace": f"RuntimeError: {HEADER} {SHAPED}"})


@dataclass
class Shop:
    """The starter organisation with a desk, a model, and a person at a terminal."""

    folder: Path
    environment: dict[str, str]
    model: OpenAIServer
    said: list[str] = field(default_factory=list)

    def silicon(self, *words: str) -> str:
        done = subprocess.run(
            [warm_silicon(), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=50, check=False,
        )  # fmt: skip
        self.said += [done.stdout, done.stderr]
        return done.stdout + done.stderr

    @property
    def traces(self) -> Iterator[tuple[str, bytes]]:
        """Everything that is left of the work: where, and the bytes."""
        home = Path(self.environment["SILICON_HOME"])
        for file in (file for file in home.rglob("*") if file.is_file()):
            yield file.name, file.read_bytes()
        with closing(sqlite3.connect(next(home.glob("*.db")))) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    yield table, b"\n".join(map(whole, row))
        for asked in self.model.asked:
            yield "a request to the model", asked.body
        for text in self.said:
            yield "what was printed", text.encode()


def whole(value: Any) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    desk, model = HttpService(answers), obliging(key=KEY)
    folder = tmp_path / "bakery"
    make(folder)
    equip(folder, desk.address)
    environment = {
        **os.environ, "SILICON_HOME": str(tmp_path / "home"), "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": KEY,
        "SILICON_MODEL__REASON": MODEL, "DESK_TOKEN": HEADER, "SILICON_LOG__LEVEL": "DEBUG",
        "SILICON_ENGINE__INLINE_OUTPUT": "120", "SILICON_ENGINE__NETWORK_RETRIES": "0",
    }  # fmt: skip
    yield Shop(folder, environment, model)
    model.stop()
    desk.stop()


def equip(folder: Path, address: str) -> None:
    """Give the organisation a desk, and its head a skill in which a model asks there."""
    connections = folder / "connections.yaml"
    declared = yaml.safe_load(connections.read_text(encoding="utf-8"))
    declared["desk"] = {
        "kind": "http", "base": address, "allow_private": True, "headers": {"Authorization": {"secret": "DESK_TOKEN"}},
        "operations": {name: {"method": "GET", "path": f"/{name}"} for name in ("look", "refuse", "fall")},
    }  # fmt: skip
    connections.write_text(yaml.safe_dump(declared), encoding="utf-8")
    think = {"id": "think", "react": "Ask the desk.", "tools": [*TOOLS], "gives": {"said": "string"}}
    teach(folder, "ask-desk", "execution", think)
    teach(folder, "find-out", "cognitive", {"id": "ask", "skill": "ask-desk", "by": "clerk"})
    org = folder / "org.yaml"
    told = yaml.safe_load(org.read_text(encoding="utf-8"))
    told["head"]["skills"].append("find-out")
    told["head"]["manages"].append({"id": "clerk", "title": "Clerk", "can": [*TOOLS], "skills": ["ask-desk"]})
    org.write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")


def teach(folder: Path, name: str, tier: str, step: dict[str, Any]) -> None:
    """Write a skill of one step."""
    skill = folder / "skills" / name
    skill.mkdir()
    front = {"name": name, "description": "Asks the desk.", "metadata": {"tier": tier}}
    (skill / "SKILL.md").write_text(f"---\n{yaml.safe_dump(front)}---\nAsk.\n", encoding="utf-8")
    (skill / "plan.yaml").write_text(yaml.safe_dump({"steps": [step]}), encoding="utf-8")


def reasoning(asked: Any) -> bool:
    return "desk_look" in asked.tool_names


def found_in(shop: Shop) -> list[tuple[str, str]]:
    return [(where, canary) for where, data in shop.traces for canary in CANARIES if canary.encode() in data]


def test_no_secret_is_left_of_a_run_that_met_them_all(shop: Shop) -> None:
    every = calls(*((tool.replace(".", "_"), {}) for tool in TOOLS))
    shop.model.when(reasoning, played(every, calls(("desk_look", {"x": HEADER})), done(said=f"It was {SHAPED}.")))

    ended = shop.silicon("run", str(shop.folder), "Ask the desk.", "--skill", "find-out")

    assert "done" in ended and "[redacted]" in str([asked.messages for asked in shop.model.chats if reasoning(asked)])
    assert found_in(shop) == []


def test_no_secret_is_left_of_a_run_that_the_endpoint_ends_with_the_key_in_its_words(shop: Shop) -> None:
    refuses = fails(401, f"Incorrect API key provided: {KEY}. See {SHAPED}.", code="invalid_api_key")
    shop.model.when(reasoning, played(calls(("desk_look", {})), refuses))

    ended = shop.silicon("run", str(shop.folder), "Ask the desk.", "--skill", "find-out")

    assert "does not let this key" in ended
    assert found_in(shop) == []


def test_the_search_finds_what_is_left(shop: Shop) -> None:
    """It would be no proof otherwise: a secret that nothing knows for one is found in ledger and blobs."""
    shop.model.when(reasoning, played(done(said="plain-canary " * 20)))

    shop.silicon("run", str(shop.folder), "Ask the desk.", "--skill", "find-out")

    assert {where for where, data in shop.traces if b"plain-canary" in data} >= {"blob_parts"}
