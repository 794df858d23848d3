"""The house itself: what a newcomer finds in every room, and what must never be committed."""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["contracts", "runtime", "memory", "governance", "agents", "cluster", "console"]
ROOMS = [*PACKAGES, "tests", "examples", "bench", "docs"]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_in_15_to_30_lines_what_lives_there(room: str) -> None:
    lines = (ROOT / room / "README.md").read_text().splitlines()

    assert 15 <= len(lines) <= 30, f"{room}/README.md has {len(lines)} lines"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_ours_and_not_another_distribution_of_that_name(package: str) -> None:
    module = importlib.import_module(package)

    assert Path(str(module.__file__)).is_relative_to(ROOT)


def test_no_tracked_file_names_a_registry_or_a_path_of_a_machine() -> None:
    forbidden = re.compile(r"(py[p]i|python[h]osted|npm[j]s)\.(org|com)|(?<![\w.])/(wor[k]|roo[t])/|/tm[p]/bash_")

    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in tracked()
        if path.suffix in {".py", ".md", ".txt", ".toml", ".yaml", ".yml", ".sql", ".ftl", ".j2", ""}
        for line in path.read_text(errors="replace").splitlines()
        if forbidden.search(line)
    ]

    assert found == []


def test_no_tracked_file_holds_the_two_sides_of_a_merge() -> None:
    mark = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)

    assert [str(path.relative_to(ROOT)) for path in tracked() if mark.search(path.read_bytes())] == []


@pytest.mark.parametrize(
    "lock", ["requirements.txt", "requirements-dev.txt", "examples/three_airports/requirements.txt"]
)
def test_every_pinned_dependency_carries_hashes(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / lock).read_text())
    pinned = [entry for entry in entries if "==" in entry and not entry.startswith("#")]

    assert pinned
    assert [entry.split()[0] for entry in pinned if "--hash=sha256:" not in entry] == []


def test_the_pinned_dependencies_are_the_declared_ones() -> None:
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[><=\[]", each)[0] for each in declared}
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = {line.split("==")[0].split("[")[0] for line in lines if "==" in line}

    assert names - pinned == set()
