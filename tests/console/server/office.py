"""An office whose work a test holds in its hand, and servers of it in processes of their own."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from tests.fakes.http_service import Answer, Asked, HttpService
from tests.silicon import warm_silicon

ROOT = Path(__file__).parents[3]
SILICON = str(Path(sys.executable).with_name("silicon"))
PATIENCE_S = 60.0
"""The longest anything here may take; a busy machine needs seconds."""
CONNECTIONS = """\
desk:
  kind: http
  base: {base}
  allow_private: true
  operations:
    work:
      method: GET
      path: /pieces/{{step}}
      description: Does a piece of work.
      parameters:
        step: {{type: string, description: Which one., example: s1}}
      gives: {{done: string}}
"""
ORG = """\
name: office
title: The office
time_zone: Europe/Berlin
people:
  - {id: planner, name: Robin, roles: [operator], groups: [planners], login: any}
head:
  id: head
  title: Head
  skills: [work, ask]
  manages:
    - {id: clerk, title: Clerk, can: [desk.work]}
"""
SKILL = """\
---
name: {name}
description: {description}.
metadata: {{when_to_use: "{description}.", words: {words}}}
---
It is done.
"""
ASK = """\
steps:
  - id: before
    by: clerk
    use: desk.work
    with: {step: before}
  - id: day
    after: [before]
    ask: {text: Which day?, who: planners, choices: [monday, tuesday]}
  - id: then
    after: [day]
    by: clerk
    use: desk.work
    with: {step: then}
"""


class Work:
    """The service behind the office: counts what it is asked, and can hold its answers back."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.held: set[str] = set()
        """Pieces of work that do not end until `release`."""
        self._changed = threading.Condition()
        self._service = HttpService(self._answer)
        self.address = self._service.address

    def release(self) -> None:
        """Let everything end that is held back."""
        with self._changed:
            self.held.clear()
            self._changed.notify_all()

    def wait_for(self, step: str, times: int = 1) -> None:
        """Return when that piece of work was begun so often."""
        with self._changed:
            begun = self._changed.wait_for(lambda: self.calls[step] >= times, PATIENCE_S)
        assert begun, f"{step} was begun {self.calls[step]} times: {self.calls}"

    def stop(self) -> None:
        """End the service."""
        self.release()
        self._service.stop()

    def _answer(self, asked: Asked) -> Answer:
        step = asked.path.rpartition("/")[2]
        with self._changed:
            self.calls[step] += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: step not in self.held, PATIENCE_S)
        return Answer(value={"done": step})


def make_office(folder: Path, work: Work, *, steps: int) -> Path:
    """Write the organisation: one skill of so many pieces of work one after the other, one that asks."""
    (folder / "skills" / "work").mkdir(parents=True)
    (folder / "skills" / "ask").mkdir()
    (folder / "org.yaml").write_text(ORG)
    (folder / "connections.yaml").write_text(CONNECTIONS.format(base=work.address))
    chain = [{"id": f"s{n}", "by": "clerk", "use": "desk.work", "with": {"step": f"s{n}"}} for n in range(1, steps + 1)]
    for before, step in pairwise(chain):
        step["after"] = [before["id"]]
    (folder / "skills" / "work" / "plan.yaml").write_text(json.dumps({"steps": chain}))
    (folder / "skills" / "ask" / "plan.yaml").write_text(ASK)
    for name, description in (("work", "Work through the pile"), ("ask", "Ask about a day")):
        text = SKILL.format(name=name, description=description, words=description.lower())
        (folder / "skills" / name / "SKILL.md").write_text(text)
    return folder


@dataclass
class Up:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str
    token: str | None

    @property
    def pid(self) -> int:
        return self.process.pid

    def begin_to_stop(self) -> dict[str, Any]:
        """Ask it to end; return what it says when it has begun to."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def stop(self) -> str:
        """Ask it to end; return what it said. It has to end by itself."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, f"{out}\n{err}"
        return out

    def kill(self) -> None:
        """End it with no warning."""
        self.process.kill()
        self.process.communicate()


@dataclass
class Site:
    """A home folder, and everybody who works with it."""

    folder: Path
    work: Work
    office: Path
    settings: dict[str, str] = field(default_factory=dict)
    token: str = ""

    @contextmanager
    def up(self, *words: str, **settings: str) -> Iterator[Up]:
        """Start a server; it is killed at the end, where it still runs."""
        process = self.start("up", "--port", "0", "--json", *words, **settings)
        try:
            told = self._first_line(process)
            self.token = told["token"] or self.token
            yield Up(process, told["address"], told["token"])
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def start(self, *words: str, program: str = SILICON, **settings: str) -> subprocess.Popen[str]:
        """Start a command and return its process."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILICON_", "OPENAI_"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {
            "PYTHONPATH": str(ROOT),
            "SILICON_HOME": str(self.folder / "home"),
            "SILICON_LEDGER__SYNCHRONOUS": "NORMAL",
            "SILICON_EXECUTOR__SWEEP_S": "0.5",
        }
        return subprocess.Popen(
            [program, *words],
            cwd=self.folder,
            env={**kept, **own, **self.settings, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *words: str, exits: int | None = 0, **settings: str) -> Any:
        """Run a command to its end, and return what it said."""
        process = self.start(*words, "--json", program=warm_silicon(), **settings)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert exits in (None, process.returncode), (
            f"silicon {' '.join(words)} ended {process.returncode}\n{out}\n{err}"
        )
        return json.loads(out)

    def ask(self, up: Up, method: str, path: str, body: Any = None) -> Any:
        """Ask the API of a server as the administrator."""
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.request(method, f"{up.address}/api/v1{path}", json=body, headers=headers, timeout=PATIENCE_S)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def submit(self, up: Up, goal: str = "Work through the pile") -> str:
        """Hand a goal to a server; return the ULID of its execution."""
        asked = {"organisation": "office", "goal": goal, "as": "planner"}
        return str(self.ask(up, "POST", "/executions", asked)["execution_id"]).partition("/")[2]

    def events(self, up: Up, execution: str, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """Follow an execution from a position to its end, or until the server ends the stream."""
        headers = {"Authorization": f"Bearer {self.token}", "Last-Event-ID": str(after)}
        path = f"{up.address}/api/v1/executions/{execution}/events"
        with httpx.stream("GET", path, headers=headers, timeout=PATIENCE_S) as answer:
            assert answer.status_code == 200, answer.status_code
            of_the_stream = False
            for line in answer.iter_lines():
                if line.startswith("data: ") and not of_the_stream:
                    yield json.loads(line.removeprefix("data: "))
                of_the_stream = line.startswith("event: ") or (of_the_stream and bool(line))

    def follow(self, up: Up, execution: str, until: str = "execution.finished") -> list[dict[str, Any]]:
        """Return the events of an execution up to the first of that type, waiting for it."""
        found = []
        for event in self.events(up, execution):
            found.append(event)
            if event["type"] == until:
                return found
        raise AssertionError(f"no {until} among {[event['type'] for event in found]}")

    def state(self, up: Up, execution: str) -> str:
        """Return where an execution stands."""
        return str(self.ask(up, "GET", f"/executions/{execution}")["state"])

    @staticmethod
    def _first_line(process: subprocess.Popen[str]) -> dict[str, Any]:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            assert selector.select(PATIENCE_S), "the server said nothing"
        line = process.stdout.readline()
        assert line.startswith('{"event": "up"'), line + "".join(process.communicate())
        return dict(json.loads(line))
