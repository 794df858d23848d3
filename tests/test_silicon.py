"""The command without its start does what the command does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.silicon import warm_silicon

REAL = str(Path(sys.executable).with_name("silicon"))


def said(program: str, folder: Path, *words: str) -> tuple[int, str, str]:
    environment = {**os.environ, "SILICON_HOME": str(folder / "home"), "COLUMNS": "90"}
    ran = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("words", [("runs",), ("bogus",), ("check", "nowhere", "--json"), ("settings", "--json")])
def test_it_says_and_ends_as_the_real_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert said(warm_silicon(), tmp_path, *words) == said(REAL, tmp_path, *words)


@pytest.mark.parametrize(("number", "ended"), [(signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_a_signal_reaches_the_command(tmp_path: Path, number: signal.Signals, ended: int) -> None:
    environment = {**os.environ, "SILICON_HOME": str(tmp_path / "home")}
    process = subprocess.Popen(
        [warm_silicon(), "up", "--port", "0", "--json"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and '"up"' in process.stdout.readline()
    (server,) = [each for each in psutil.process_iter() if str(tmp_path) in _home(each) and each.pid != process.pid]

    process.send_signal(number)
    process.communicate(timeout=60)

    assert process.returncode == ended
    assert psutil.wait_procs([server], timeout=60)[0] == [server]


def _home(process: psutil.Process) -> str:
    try:
        return " ".join(each.path for each in process.open_files())
    except psutil.Error:
        return ""
