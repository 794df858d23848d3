"""Ray is imported when it is asked for, and not before."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec as find_spec_of
from typing import Any

import pytest

from agents.workforce.errors import RayMissing
from agents.workforce.ray import actors, require_ray


def test_nothing_of_the_command_line_imports_ray() -> None:
    code = (
        "import sys, console.application, console.hosting, console.server.server, console.cli.commands.run, "
        "console.cli.commands.up; sys.exit('ray' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name == "ray" else find_spec_of(name)

    monkeypatch.setattr(actors, "find_spec", find)

    with pytest.raises(RayMissing, match=r"pip install 'silicon-org\[ray\]'"):
        require_ray()
