"""Help that can be read on a narrow terminal, and groups that are named alone."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from console.cli.main import COMMANDS, main
from tests.console.conftest import Silicon
from tests.stores import lay_empty_ledger

GROUPS = {name: module for name, (_, module, _) in COMMANDS.items()}
ALONE = {
    "approvals": "list",
    "tokens": "list",
    "dead-letters": "list",
    "deliveries": "list",
    "cluster": "nodes",
    "db": "status",
    "costs": "show",
}


def below(name: str) -> dict[str, Any]:
    """Return the sub-commands of a command."""
    return dict(getattr(typer.main.get_command(import_module(GROUPS[name]).app), "commands", {}))


PAGES = [[], *([name] for name in COMMANDS), *([name, sub] for name in COMMANDS for sub in below(name))]


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_no_line_of_help_is_cut_on_a_terminal_of_eighty_cells(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0

    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines() if not line.startswith("Usage:")]

    assert [line for line in lines if line.endswith(("…", "...")) or len(line) > 80] == []


@pytest.mark.parametrize(("group", "command"), ALONE.items())
def test_a_group_named_alone_shows_how_things_stand(
    group: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SILICON_HOME", str(tmp_path))
    lay_empty_ledger(tmp_path)
    told = []
    for words in ([group, command], [group]):
        assert (main(words), main([*words, "--json"])) == (0, 0)
        told.append(capsys.readouterr().out)

    assert told[0] == told[1] != ""


@pytest.mark.parametrize("group", [name for name in COMMANDS if below(name) and name not in ALONE])
def test_a_group_whose_commands_need_something_or_do_something_says_which_there_are(
    silicon: Silicon, group: str
) -> None:
    assert silicon(group).code == 2
    assert [name for name in below(group) if f"  {name}" not in silicon.err] == []


def test_an_option_that_there_is_not_is_told_by_the_command_that_was_meant(silicon: Silicon) -> None:
    assert silicon("approvals", "--foo").code == 2
    assert "`silicon approvals list --help`" in silicon.err


def test_help_of_a_group_is_its_own(silicon: Silicon) -> None:
    assert silicon("approvals", "-h").code == 0
    assert "Alone it means `list`." in silicon.out
