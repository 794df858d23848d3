"""The entry of the command line: help that costs nothing, usage errors, exit codes, surprises."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from console.cli.main import COMMANDS, main
from console.starter.make import make
from tests.console.conftest import Silicon
from tests.fakes.console_values import EXECUTION

ROOT = Path(__file__).parents[2]
HEAVY = ("pydantic", "rich", "sqlalchemy", "duckdb", "contracts", "runtime", "structlog", "fluent", "asyncio")
LIGHT = ("runtime", "runtime.garbage")
"""Of those rooms, what imports nothing else."""
LATER = (
    "agents.workforce", "alembic", "cluster", "console.application", "console.wiring", "duckdb", "fluent", "httpx",
    "jsonpath", "jsonschema", "matplotlib", "networkx", "numpy", "psutil", "ray", "redis",
    "runtime.capabilities.connected", "runtime.engine.engine", "scipy", "sqlalchemy.dialects.mysql",
    "sqlalchemy.dialects.postgresql",
)  # fmt: skip
"""What works on a goal, and what is heavy: none of it is needed to read an organisation and record a goal for it."""
TO_THE_FIRST_EVENT = """
import os, sys
from console.cli.main import main
from runtime.executor.register import Register

submit = Register.submit
async def submitted(self, *arguments, **named):
    await submit(self, *arguments, **named)
    there = [name for name in {later!r} if name in sys.modules]
    os.write(1, repr(there).encode())
    os._exit(0)

Register.submit = submitted
main({words!r})
"""


def test_help_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    out = capsys.readouterr().out
    assert [name for name in COMMANDS if f"  {name} " not in out] == []
    assert "0 done, 1 failed, 2 usage, 3 waiting for a decision" in out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from console.cli.main import main; main(['--help']); "
        f"print([m for m in sys.modules if m.split('.')[0] in {HEAVY!r} and m not in {LIGHT!r}], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


def test_a_goal_is_recorded_before_anything_is_imported_that_only_works_on_it(tmp_path: Path) -> None:
    make(tmp_path / "bakery")
    words = ["run", str(tmp_path / "bakery"), "How did the week go?"]
    code = TO_THE_FIRST_EVENT.format(later=LATER, words=words)
    home = {**os.environ, "SILICON_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=home, capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("[]", "")


def test_help_of_a_command_imports_neither_the_work_nor_the_ledger() -> None:
    work = ("agents", "runtime.executor", "sqlalchemy", *LATER)
    code = (
        "import sys; from console.cli.main import main; main(['run', '--help']); "
        f"print([m for m in {work!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", LATER)
def test_what_is_imported_later_is_still_called_that(name: str) -> None:
    assert find_spec(name) is not None


def test_a_folder_is_checked_without_a_database(tmp_path: Path) -> None:
    make(tmp_path / "bakery")
    code = (
        f"import sys; from console.cli.main import main; main(['check', {str(tmp_path / 'bakery')!r}]); "
        f"print([m for m in ('sqlalchemy', *{LATER!r}) if m in sys.modules and m != 'fluent'], file=sys.stderr)"
    )
    home = {**os.environ, "SILICON_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=home, capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"
    assert not (tmp_path / "home" / "silicon.db").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_with_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0

    assert f"Usage: silicon {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_language(name: str) -> None:
    command = typer.main.get_command(import_module(COMMANDS[name][1]).app)
    for each in getattr(command, "commands", {"": command}).values():
        options = [option for parameter in each.params for option in parameter.opts]
        assert {"--json", "--language"} <= set(options), f"{name} {each.name}"


def test_a_command_that_is_not_there_is_usage_and_a_near_one_is_named(silicon: Silicon) -> None:
    silicon("ruun")

    assert silicon.code == 2
    assert "Did you mean 'run'" in silicon.err


def test_usage_errors_are_json_with_json(silicon: Silicon) -> None:
    silicon("run", "--json")

    assert silicon.code == 2
    assert silicon.json["error"]["code"] == "USAGE"
    assert silicon.err == ""


def test_an_unknown_setting_ends_every_command(silicon: Silicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICON_LEDGER_URL", "x")

    silicon("runs", "--json")

    assert silicon.code == 1
    assert silicon.json["error"]["code"] == "SETTINGS_INVALID"
    assert "SILICON_LEDGER__URL" in silicon.json["error"]["message"]


def test_a_surprise_is_one_sentence_and_the_traceback_is_in_the_log(silicon: Silicon) -> None:
    silicon.application.raises = RuntimeError("a bug with sk-abcdefghijklmnop12")

    silicon("run", "x", "Why?")

    log = silicon.home / "log.jsonl"
    assert silicon.code == 1
    assert f"Something unexpected happened; the details are in {log}." in silicon.err
    assert "Traceback" not in silicon.out + silicon.err
    assert "Traceback" in log.read_text()
    assert "sk-abcdefghijklmnop12" not in log.read_text()


@pytest.mark.parametrize("words", [["settings"], ["settings", "--json"]])
def test_an_answer_that_cannot_be_written_is_told_without_a_traceback(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-c", "from console.cli.main import run; run()", *words]
    with Path("/dev/full").open("w") as full:
        kept = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=kept, stdout=full, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 1
    told = "The answer could not be written: No space left on device. What was done is done.\n"
    assert done.stderr.decode() == told


def test_an_error_inside_a_group_of_tasks_is_told_like_any_other(silicon: Silicon) -> None:
    from runtime.errors import LedgerUnavailable

    silicon.application.raises = ExceptionGroup("tasks", [LedgerUnavailable("The database is locked.")])

    silicon("run", "x", "Why?", "--json")

    assert (silicon.code, silicon.json["error"]["code"]) == (1, "LEDGER_UNAVAILABLE")


def test_ctrl_c_says_how_to_go_on(silicon: Silicon) -> None:
    silicon.application.raises = KeyboardInterrupt()

    silicon("run", "x", "Why?")

    assert silicon.code == 1
    assert f"silicon resume {EXECUTION}" in silicon.err
    assert silicon.out == ""


def test_ctrl_c_with_json_gives_the_command_to_resume(silicon: Silicon) -> None:
    silicon.application.raises = KeyboardInterrupt()

    silicon("run", "x", "Why?", "--json")

    assert silicon.json["error"]["facts"] == {
        "execution_id": str(EXECUTION),
        "command": f"silicon resume {EXECUTION}",
    }


def test_a_language_that_is_not_there_is_usage(silicon: Silicon) -> None:
    silicon("runs", "--language", "fr")

    assert silicon.code == 2
    assert "en, zh" in silicon.err


def test_the_application_is_closed_after_each_command(silicon: Silicon) -> None:
    silicon("runs")

    assert [name for name, _ in silicon.application.asked] == ["open", "close"]
