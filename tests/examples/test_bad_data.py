"""What happens when the data is not what the organisation was written for: each fault in words, nothing half-done."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.examples.conftest import GOAL, Desk


@pytest.fixture
def own(tmp_path: Path, example: Path) -> Path:
    """A copy of the organisation whose data a test may spoil."""
    folder = tmp_path / "airports"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def spoil(folder: Path, *statements: str) -> None:
    with duckdb.connect(str(folder / "data" / "flights.duckdb")) as db:
        for statement in statements:
            db.execute(statement)


def test_a_missing_data_file_is_named_with_the_command_that_makes_it(desk: Desk, own: Path) -> None:
    (own / "data" / "flights.duckdb").unlink()

    refused = desk.json("run", str(own), GOAL, exits=1)

    assert refused["error"]["code"] == "ORGANISATION_FAULTY"
    assert "make data" in refused["error"]["message"] and "flights.duckdb" in refused["error"]["message"]
    assert desk.json("runs")["executions"] == []


def test_a_renamed_column_is_named(desk: Desk, own: Path) -> None:
    spoil(own, "ALTER TABLE flights RENAME COLUMN carrier TO airline")

    failed = desk.json("run", str(own), GOAL, exits=1)

    assert failed["state"] == "failed"
    assert "carrier" in failed["error"]["message"] and "airline" in failed["error"]["message"]


def test_an_empty_table_is_told_as_no_flights_and_not_as_zero_per_cent(desk: Desk, own: Path) -> None:
    spoil(own, "DELETE FROM flights")

    failed = desk.json("run", str(own), GOAL, exits=1)

    assert failed["state"] == "failed"
    assert "totals" in failed["error"]["message"] and "flights > 0" in failed["error"]["message"]
    assert failed["products"] == []


def test_a_file_that_is_no_database_is_told(desk: Desk, own: Path) -> None:
    (own / "data" / "flights.duckdb").write_bytes(b"not a database" * 1_000)

    failed = desk.json("run", str(own), GOAL, exits=1)

    assert "flights.duckdb" in failed["error"]["message"]


def test_mended_data_lets_a_failed_execution_go_on(desk: Desk, own: Path) -> None:
    spoil(own, "ALTER TABLE flights RENAME COLUMN carrier TO airline")
    failed = desk.json("run", str(own), GOAL, exits=1)
    spoil(own, "ALTER TABLE flights RENAME COLUMN airline TO carrier")

    assert desk.json("resume", failed["execution_id"], exits=3)["state"] == "waiting"


def test_a_script_that_raises_is_told_by_its_line(desk: Desk, own: Path) -> None:
    (own / "skills" / "explain-cancellations" / "course.py").write_text("rows = inputs['hours']\nresult = rows[99]\n")

    failed = desk.json("run", str(own), GOAL, exits=1)

    assert "line 2" in failed["error"]["message"] and "IndexError" in failed["error"]["message"]
    assert "Traceback" not in failed["error"]["message"]
