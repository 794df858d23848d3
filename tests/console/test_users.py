"""`silicon users`, over a real ledger."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main
from tests.console.desks import make_organisation
from tests.stores import lay_empty_ledger

WORDS = "some words that nobody guesses"
Typed = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Type a command in a folder of its own; returns its code, its JSON and everything that was printed."""
    lay_empty_ledger(tmp_path / ".silicon")
    make_organisation(tmp_path / "desk")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SILICON_ACCESS__ARGON2_MEMORY_MIB", "8")

    def type_(*words: str, stdin: str = "") -> tuple[int, Any, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = main(["users", *words, "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out or "null"), out + err

    return type_


def test_everybody_of_the_folder_is_listed_with_their_roles(typed: Typed) -> None:
    code, told, _ = typed("list", "desk")
    assert code == 0
    assert [(each["person"], each["roles"]) for each in told["users"]] == [
        ("planner", ["operator"]), ("clerk", ["approver"]), ("guest", ["viewer"]),
    ]  # fmt: skip


def test_a_password_comes_from_standard_input_and_is_shown_nowhere(typed: Typed) -> None:
    code, told, printed = typed("password", "desk", "clerk", "--stdin", stdin=f"{WORDS}\n")
    assert (code, bool(told["password_since"])) == (0, True)
    assert WORDS not in printed
    assert WORDS not in Path(".silicon/log.jsonl").read_text() if Path(".silicon/log.jsonl").exists() else True


def test_without_a_terminal_a_password_is_not_waited_for(typed: Typed) -> None:
    code, told, _ = typed("password", "desk", "clerk")
    assert (code, told["error"]["code"]) == (2, "INVALID_ARGUMENTS")
    assert "--stdin" in told["error"]["message"]


def test_a_password_is_no_option_of_the_command_line(typed: Typed) -> None:
    code, told, _ = typed("password", "desk", "clerk", WORDS)
    assert code == 2
    assert told["error"]["code"] == "USAGE"


def test_nobody_who_is_not_in_the_folder_gets_a_password(typed: Typed) -> None:
    code, told, _ = typed("password", "desk", "nobody", "--stdin", stdin=WORDS)
    assert (code, told["error"]["code"]) == (2, "NOBODY_ACTS")


def test_an_account_is_locked_with_a_reason_and_unlocked(typed: Typed) -> None:
    _, locked, _ = typed("lock", "desk", "clerk", "--reason", "lost a phone")
    _, unlocked, _ = typed("unlock", "desk", "clerk")
    assert (locked["reason"], bool(locked["locked_at"])) == ("lost a phone", True)
    assert unlocked["locked_at"] is None


def test_a_password_is_taken_away(typed: Typed) -> None:
    typed("password", "desk", "clerk", "--stdin", stdin=WORDS)
    code, told, _ = typed("password", "desk", "clerk", "--remove")
    assert (code, told["password_since"]) == (0, None)
