"""What `silicon doctor` looks at by itself: Python, versions, the home folder."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from console.views_system import Examined, Health
from runtime.settings.load import Settings
from runtime.telemetry.logs import log_file

LEAST_PYTHON = (3, 11)
PACKAGES = ("silicon-org", "pydantic", "sqlalchemy", "duckdb", "cel-expr-python")
"""Whose versions matter when something behaves differently elsewhere."""


def examine(settings: Settings) -> Iterator[Examined]:
    """Yield what is found, without touching a database or service."""
    yield _python()
    yield _versions()
    yield _home(settings.home)
    yield _log(settings)


def _python() -> Examined:
    good = sys.version_info >= LEAST_PYTHON
    return Examined(
        "python",
        Health.GOOD if good else Health.BROKEN,
        f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "" if good else f"Use Python {'.'.join(map(str, LEAST_PYTHON))} or newer.",
    )


def _versions() -> Examined:
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "from its source folder" if name == "silicon-org" else "missing"
    missing = [name for name, each in found.items() if each == "missing"]
    return Examined(
        "packages",
        Health.BROKEN if missing else Health.GOOD,
        ", ".join(f"{name} {each}" for name, each in found.items()),
        f"Install {', '.join(missing)}: pip install -e ." if missing else "",
        found,
    )


def _home(home: Path) -> Examined:
    """Look for write access where the folder is, or where it would be made."""
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    if not there.is_dir():
        return Examined("home", Health.BROKEN, f"{there} is a file", "Set SILICON_HOME to a folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        return Examined(
            "home", Health.BROKEN, f"{there} cannot be written", "Set SILICON_HOME to a folder that you may write to."
        )
    return Examined("home", Health.GOOD, str(home) if home.exists() else f"{home}, made with the first write")


def _log(settings: Settings) -> Examined:
    path = log_file(settings.log, settings.home)
    if path.exists() and not os.access(path, os.W_OK):
        return Examined("log", Health.BROKEN, f"{path} cannot be written", "Set SILICON_LOG__FILE to another file.")
    return Examined("log", Health.GOOD, f"{path}, level {settings.log.level}")
