"""What the tests of the executor share."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def dead_holder() -> str:
    """The name of a process of this machine that has ended."""
    tell = "from runtime.executor.holder import this_process; print(this_process())"
    told = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True)
    return f"{told.stdout.strip()}/ab12"
