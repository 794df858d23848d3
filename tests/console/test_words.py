"""Commands that the program prints can be pasted into the shell it was started from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.cli.words import command_line, program


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    program.cache_clear()
    yield
    program.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in an environment of the working directory, started by its path."""
    script = tmp_path / ".venv" / "bin" / "silicon"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "run"])
    return script


def test_a_program_on_the_path_is_called_by_its_name(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(installed.parent))

    assert command_line("resume", "a b") == "silicon resume 'a b'"


def test_a_program_beside_the_path_is_called_by_where_it_is(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert command_line("runs") == ".venv/bin/silicon runs"


def test_another_program_of_that_name_on_the_path_is_not_meant(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "bin" / "silicon"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))

    assert command_line("runs") == ".venv/bin/silicon runs"
