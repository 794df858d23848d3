from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.cognition.advise.capability import SPEC as ADVISE
from agents.employee.report import SPEC as REPORT
from agents.skills.reading import SPEC as READ_SKILL
from governance.notifications import SPEC as NOTIFY
from runtime.capabilities.builtin import builtin_specs
from runtime.capabilities.port import CapabilitySpec

GOOD = Path(__file__).parent / "good"


@pytest.fixture
def organisation(tmp_path: Path) -> Path:
    """A small organisation without faults, to be changed at will."""
    folder = tmp_path / "two_desks"
    shutil.copytree(GOOD, folder)
    (folder / "data").mkdir()
    (folder / "data" / "flights.duckdb").touch()
    return folder


@pytest.fixture(scope="session")
def builtin() -> Mapping[str, CapabilitySpec]:
    return {spec.name: spec for spec in [*builtin_specs(), ADVISE, REPORT, READ_SKILL, NOTIFY]}
