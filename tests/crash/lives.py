"""The reference process as a test handles it: lives of a process that are ended and followed by others."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.port import AuditFault
from runtime.settings import LedgerSettings
from tests.crash.dying_store import labels_with_numbers
from tests.crash.person import Task, Told, ask_desk

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How one life ended: killed, on an error, or with everything done."""

    killed: bool
    told: Told | None = None
    error: str = ""


@dataclass
class Lives:
    """One ledger and one service, for which processes live and die one after the other."""

    folder: Path
    url: str
    desk: int
    warm: subprocess.Popen[str]
    settings: dict[str, Any] = field(default_factory=dict)
    _keys: Iterator[int] = field(default_factory=count)

    def begin(self) -> str:
        """Return the key of a new execution, for which the service begins a new log."""
        ask_desk(self.desk, "/begin", {})
        return f"key-{next(self._keys)}"

    def live(self, key: str, **death: Any) -> Ended:
        """Let a process live until it has brought the execution to its end, or dies as it is told."""
        home, organisation = str(self.folder / "home"), str(self.folder / "organisation")
        task = Task(home, self.url, organisation, self.desk, key, settings=self.settings, **death)
        assert self.warm.stdin and self.warm.stdout
        self.warm.stdin.write(json.dumps(asdict(task)) + "\n")
        self.warm.stdin.flush()
        ended = json.loads(self.warm.stdout.readline())
        told = Told(**ended["told"]) if "told" in ended else None
        return Ended(ended["killed"], told, ended.get("error", ""))

    def next_life(self, number: int) -> None:
        """Tell the service that another process calls from now on."""
        ask_desk(self.desk, "/mark", {"life": number})

    def undisturbed(self) -> Told:
        """Return what a run comes to that nothing disturbs."""
        ended = self.live(self.begin())
        assert ended.told, ended.error
        assert self.faults(ended.told, ended.told, lives=1) == []
        return ended.told

    def audit(self) -> list[AuditFault]:
        """Return what `silicon audit verify` finds in the ledger."""

        async def verify() -> list[AuditFault]:
            settings = LedgerSettings(url=self.url)
            store = await open_store(settings, home=self.folder / "home", clock=SystemClock())
            try:
                return await store.ledger.verify()
            finally:
                await store.close()

        return asyncio.run(verify())

    def faults(self, told: Told, expected: Told, *, lives: int) -> list[str]:
        """Return everything about an execution that is not as if nothing had happened, after that many lives."""
        found = [f"{unit} more than once" for unit in told.twice]
        if told.state != "done":
            found.append(f"it ended {told.state}: {told.result['error']}")
        elif result_without(told) != result_without(expected, told.doubts):
            found.append(f"it came to something else: {json.dumps(told.result)}")
        calls = ask_desk(self.desk, "/log")
        for path in ("/payments", "/letters"):
            times = sum(call["path"] == path for call in calls)
            if times != 1:
                found.append(f"POST {path} happened {times} times")
        for call in calls:
            if call["life"] == lives - 1 and lives > 1 and call["key"] in told.finished_before:
                found.append(f"{call['path']} was called again although its step was finished")
        if "desk.pay" in told.doubts:
            found.append("a person was asked about a payment that could be looked up")
        return found


def result_without(told: Told, doubts: Sequence[str] | None = None) -> Any:
    """Return the result, and without what the letter gave where only a person knows that it was sent."""
    text = json.dumps(told.result, sort_keys=True)
    if "desk.tell" in (told.doubts if doubts is None else doubts):
        text = text.replace('{"confirmed_by_person": true}', '{"sent": true}')
    return json.loads(text)


def crash_points(expected: Told) -> list[tuple[str, int]]:
    """Return every durable write of an undisturbed run: its label, and which one of that label it is."""
    return labels_with_numbers(expected.writes)


@contextmanager
def open_lives(folder: Path, url: str = "", **settings: Any) -> Iterator[Lives]:
    """Start the service and the warmed process; end them, and whatever they started, afterwards."""
    with open_desk() as port, _program("tests.crash.warm") as warm:
        copy_organisation(folder / "organisation", port)
        yield Lives(folder, url, port, warm, settings)


@contextmanager
def open_desk() -> Iterator[int]:
    """Start the service; give its port."""
    with _program("tests.crash.desk") as desk:
        assert desk.stdout
        yield int(desk.stdout.readline())


def copy_organisation(folder: Path, port: int) -> None:
    """Copy the reference organisation and lead it to the service."""
    shutil.copytree(Path(__file__).parent / "organisation", folder)
    for file in folder.rglob("*.yaml"):
        file.write_text(file.read_text().replace("http://127.0.0.1:1", f"http://127.0.0.1:{port}"))


@contextmanager
def _program(module: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
