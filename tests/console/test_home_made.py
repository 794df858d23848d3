"""A command that made a home folder says where, so that whoever stands in the wrong folder notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.cli.main import main


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without a home folder."""
    monkeypatch.delenv("SILICON_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    return tmp_path


def test_the_first_command_says_which_home_it_made_and_the_next_is_silent(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs"]) == 0
    first = capsys.readouterr()
    assert main(["runs"]) == 0
    second = capsys.readouterr()

    assert first.out == second.out == "Nothing was run yet.\n"
    assert f"{nowhere / '.silicon'} was made" in first.err
    assert second.err == ""


def test_a_home_that_was_named_is_made_in_silence(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SILICON_HOME", str(nowhere / "named"))

    assert main(["runs"]) == 0
    assert capsys.readouterr().err == ""
    assert (nowhere / "named").is_dir()


def test_a_folder_without_an_organisation_is_a_slip_like_one_that_is_not_there(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nowhere / "empty").mkdir()

    assert main(["run", "missing", "Why?"]) == main(["run", "empty", "Why?"]) == 2
    assert "org.yaml" in capsys.readouterr().err


def test_an_organisation_with_faults_is_a_failure(nowhere: Path) -> None:
    (nowhere / "faulty").mkdir()
    (nowhere / "faulty" / "org.yaml").write_text("name: 7\n")

    assert main(["run", "faulty", "Why?"]) == 1
