"""Ctrl-C on a real execution: nothing is lost, and what is said to go on with works at once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from console.starter.make import GOAL, make

ROOT = Path(__file__).parents[2]
SILICON = [sys.executable, "-c", "from console.cli.main import run; run()"]


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SILICON_")}
    return kept | {"SILICON_HOME": str(home), "PYTHONPATH": str(ROOT)}


def interrupted(folder: Path) -> tuple[int, str, str]:
    """Send Ctrl-C to a run once its first work is done; return its exit code, what it said, and what it told aside."""
    run = subprocess.Popen(
        ["env", "--default-signal=INT", *SILICON, "run", str(folder / "shop"), GOAL],
        env=environment(folder / "home"), cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stderr is not None
    while "analyst/do" not in run.stderr.readline():
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    return run.returncode, out, err


def test_ctrl_c_in_the_middle_of_a_run_can_be_resumed_at_once(tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / str(number)
        make(folder / "shop")
        code, out, err = interrupted(folder)
        if code != 3:  # on a busy machine it may come only when the run waits for its decision
            break

    found = re.search(r"silicon resume (execution/\w+)$", err.strip())
    assert (code, out) == (1, "")
    assert found, err
    resumed = subprocess.run(
        [*SILICON, "resume", found[1], "--json"],
        env=environment(folder / "home"),
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert resumed.returncode == 3, resumed.stderr
    assert json.loads(resumed.stdout)["cards"][0]["options"][0]["id"] == "discount"
