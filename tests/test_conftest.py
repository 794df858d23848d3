"""What every test shares."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.xdist_group("alone")
def test_a_group_is_known_to_whoever_deals_out_the_tests(request: pytest.FixtureRequest) -> None:
    """Versions of pytest and its workers that do not fit pass over groups without a word; each reads the id's end."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@alone")
    else:
        assert os.environ.get("PYTEST_XDIST_WORKER") is None, "run workers with --dist loadgroup"
