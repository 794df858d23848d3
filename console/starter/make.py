"""Makes the starter organisation: its files, and a data file of four weeks of sales."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from console.errors import FolderInUse, FolderNotMade, UnknownName

GOAL = "How did the week go?"
"""A goal that the starter's skill answers."""

FILES = Path(__file__).parent / "files"
LAST_DAY = date(2026, 10, 25)
DAYS = 28
PRODUCTS = {"bread": (120, 4.2), "croissant": (90, 1.9), "cake": (14, 18.0), "coffee": (210, 2.6)}
"""Product → pieces on an ordinary day, price."""
DATA = "data/sales.duckdb"


def make(folder: Path) -> list[str]:
    """Make the organisation in `folder`, named after it, and return its files.

    Raises:
        FolderInUse: something is there already; it is left as it is.
        FolderNotMade: nothing can be written there.
        UnknownName: the folder's name cannot be the name of an organisation.
    """
    try:
        return _made(folder)
    except OSError as error:
        raise FolderNotMade(
            f"{folder} cannot be made: {error.strerror or error}. Name a folder in a place that you may write to.",
            folder=str(folder),
        ) from error


def _made(folder: Path) -> list[str]:
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    if not re.match(r"[a-z]", name):
        raise UnknownName(f"{folder.name!r} cannot name an organisation. Take a name that begins with a letter.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderInUse(f"{folder} is not empty. Name a folder that is empty or not there.", folder=str(folder))
    shutil.copytree(FILES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    org = folder / "org.yaml"
    org.write_text(org.read_text(encoding="utf-8").replace("name: bakery\n", f"name: {name}\n", 1), encoding="utf-8")
    _make_data(folder / DATA)
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def sales() -> Iterator[tuple[date, str, int, float]]:
    """Yield day, product, pieces and money; the same each time, with a fall of croissants in the last week."""
    for back in range(DAYS - 1, -1, -1):
        day = LAST_DAY - timedelta(days=back)
        weekend = 1.35 if day.weekday() >= 5 else 1.0
        for number, (product, (usual, price)) in enumerate(PRODUCTS.items()):
            wobble = 1 + ((day.toordinal() * 7 + number * 13) % 11 - 5) / 60
            fall = 0.62 if product == "croissant" and back < 7 else 1.0
            pieces = round(usual * weekend * wobble * fall)
            yield day, product, pieces, round(pieces * price, 2)


def _make_data(file: Path) -> None:
    import duckdb

    file.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales (day DATE, product VARCHAR, pieces INTEGER, amount DECIMAL(10, 2))")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", [list(row) for row in sales()])
