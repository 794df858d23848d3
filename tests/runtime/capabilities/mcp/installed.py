"""MCP servers that other people wrote, installed once for all tests into a folder of the machine for temporary files.

They need other versions of the SDK than this program, so none of them is a dependency. Where they cannot be had, their
tests are skipped, and say why.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import pytest

_MOST_S = 200


def python_program(name: str, *packages: str) -> str:
    """Return the path of a program that Python packages bring; skip the test where they cannot be installed."""
    folder, why_not = _installed(packages, "python")
    if why_not:
        pytest.skip(f"{', '.join(packages)} cannot be installed: {why_not}")
    return str(folder / "bin" / name)


def node_program(name: str, *packages: str) -> str:
    """Return the path of a program that npm packages bring; skip the test where they cannot be installed."""
    if shutil.which("npm") is None or shutil.which("npx") is None:
        pytest.skip("there is no npx on this machine")
    folder, why_not = _installed(packages, "node")
    if why_not:
        pytest.skip(f"{', '.join(packages)} cannot be installed: {why_not}")
    return str(folder / "node_modules" / ".bin" / name)


@lru_cache
def _installed(packages: tuple[str, ...], kind: str) -> tuple[Path, str]:
    name = sha256(" ".join((*packages, sys.version)).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / "silicon-org-tests" / f"mcp-{name}"
    with _locked(folder.with_suffix(".lock")):
        if (folder / ".whole").exists():
            return folder, ""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for command in _commands(folder, packages, kind):
            try:
                done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_MOST_S, cwd=folder)
            except subprocess.TimeoutExpired:
                return folder, f"not within {_MOST_S} s"
            if done.returncode:
                return folder, (done.stderr.strip().splitlines() or ["it says nothing"])[-1][:200]
        (folder / ".whole").touch()
    return folder, ""


def _commands(folder: Path, packages: Iterable[str], kind: str) -> list[list[str]]:
    if kind == "node":
        return [["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    return [[sys.executable, "-m", "venv", str(folder)], [*pip, *packages]]


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold the lock of a folder, so that of several workers one installs and the others wait."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
