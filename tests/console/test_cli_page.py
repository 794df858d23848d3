"""docs/cli.md names every command and every option there is."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from console.cli.exits import Exit
from console.cli.main import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = PAGE.partition("## Organisations")[2]
GENERAL = {"--help", "-h", "--json", "--language"}


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command as it is typed."""
    for name, (_, module, _) in COMMANDS.items():
        command = typer.main.get_command(import_module(module).app)
        below = getattr(command, "commands", None)
        if below is None:
            yield f"silicon {name}", command
        else:
            yield from ((f"silicon {name} {sub}", each) for sub, each in below.items())


def test_every_command_has_its_place() -> None:
    assert [typed for typed, _ in commands() if f"`{typed}" not in SECTIONS] == []


def test_every_option_is_named_where_its_command_is() -> None:
    missing = []
    for typed, command in commands():
        section = SECTIONS.split(f"`{typed}", 1)[1].split("\n`silicon", 1)[0]
        for parameter in command.params:
            long = [option for option in parameter.opts if option.startswith("--") and option not in GENERAL]
            missing += [f"{typed} {option}" for option in long if option not in section]

    assert missing == []


def test_every_exit_code_is_there() -> None:
    assert [code for code in Exit if f"| {code.value} |" not in PAGE] == []
