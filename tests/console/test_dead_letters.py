"""`silicon dead-letters`, on a ledger in which the group `mailer` gave two events up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main
from runtime.bus.dead import burial
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.runtime.bus.messages import fact


async def _give_up(home: Path) -> None:
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    await store.ledger.append(fact(0), fact(1))
    for event in await store.ledger.read_all():
        error = RuntimeError("no such customer\n✓ mailer/9")
        await store.ledger.append(await burial(store.ledger, "mailer", event, tries=5, error=error))
    await store.close()


class Operator:
    """Whoever types the commands; `out` and `err` are what the last one printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = main(["dead-letters", *words])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *words: str) -> Any:
        self(*words, "--json")
        return json.loads(self.out)

    @property
    def left(self) -> list[str]:
        return [each["letter"] for each in self.json("list")["dead_letters"]]


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Operator:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path))
    monkeypatch.setenv("SILICON_BUS__URL", "redis://127.0.0.1:1")  # nobody is there, and nobody is asked
    asyncio.run(_give_up(tmp_path))
    return Operator(capsys)


def test_they_are_listed_with_the_failure_on_one_line(operator: Operator) -> None:
    assert operator("list") == 0

    lines = operator.out.splitlines()
    assert [line for line in lines if line.startswith("✗")] == [
        "✗ mailer/1  step.finished  order/0",
        "✗ mailer/2  step.finished  order/1",
    ]
    assert lines[1].endswith("after 5 tries: RuntimeError: no such customer ✓ mailer/9")
    assert operator.json("list", "--group", "other")["dead_letters"] == []


def test_one_is_shown_with_its_event_and_what_can_be_done(operator: Operator) -> None:
    assert operator("show", "mailer/2") == 0

    assert operator.out.splitlines()[-2:] == [
        "  silicon dead-letters retry mailer/2",
        "  silicon dead-letters drop mailer/2 --reason TEXT",
    ]
    shown = operator.json("show", "dead/mailer/2")
    assert (shown["tries"], shown["error"]["code"], shown["event"]["data"]) == (5, "RuntimeError", {"n": 1})


def test_one_that_is_sent_again_is_a_dead_letter_no_more(operator: Operator) -> None:
    assert operator.json("retry", "mailer/1") == {"letter": "mailer/1", "became": "retried"}

    assert operator.left == ["mailer/2"]
    assert operator("retry", "mailer/1") == 2
    assert "it was sent again or dropped already" in operator.err


def test_dropping_one_takes_a_reason_and_is_for_good(operator: Operator) -> None:
    assert operator("drop", "mailer/1") == 2
    assert operator("drop", "mailer/1", "--reason", "a test customer") == 0

    assert operator.left == ["mailer/2"]
    assert operator("retry", "mailer/1") == 2


@pytest.mark.parametrize(
    "typed", ["mailer", "mailer/x", "/1", "mailer/-1", "mailer/٣", f"mailer/{10**30}", f"mailer/{0:05000}"]
)
def test_what_is_no_name_of_one_is_told_with_how_it_is_written(operator: Operator, typed: str) -> None:
    assert operator("show", typed) == 2

    assert "GROUP/POSITION, for example mailer/17" in operator.err
