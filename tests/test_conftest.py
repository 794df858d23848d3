"""What every test shares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import gc

def test_that_fails(tmp_path):
    left = [open(tmp_path / "left", "w")]
    left.append(left)
    assert False

def test_that_comes_after_it():
    gc.collect()
"""


def test_what_a_failed_test_left_open_fails_no_other(tmp_path: Path) -> None:
    file = tmp_path / "test_two.py"
    file.write_text(TESTS)

    words = ["-q", "-W", "error", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "/dev/null", str(file)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", f"--rootdir={tmp_path}", *words],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 1 and "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
