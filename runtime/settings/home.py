"""Where the program keeps its state: the home folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = ".silicon"


def make_home(home: Path) -> None:
    """Make the home folder where it is missing, for its owner alone: it holds everything the organisation did."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def find_home(environment: Mapping[str, str], working: Path) -> Path:
    """Return SILICON_HOME, else the nearest `.silicon` folder from `working` upward, else `working/.silicon`.

    Nothing is created: the folder appears with the first write.
    """
    named = environment.get("SILICON_HOME", "").strip()
    if named:
        return (working / Path(named).expanduser()).resolve()
    working = working.resolve()
    for folder in (working, *working.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return working / FOLDER
