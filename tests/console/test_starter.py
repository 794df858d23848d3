"""What `silicon init` makes: real data, the same each time, and a folder without faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.cognition.advise import capability as advise
from agents.cognition.attribute_spec import SPEC as ATTRIBUTE
from agents.employee import report
from agents.organisation import check
from console.errors import FolderInUse, UnknownName
from console.starter.make import make, sales
from memory.metric_capability import SPEC as METRIC

BUILT_IN = {spec.name: spec for spec in (report.SPEC, advise.SPEC, ATTRIBUTE, METRIC)}


def test_it_passes_the_check(tmp_path: Path) -> None:
    make(tmp_path / "shop")

    assert check(tmp_path / "shop", builtin=BUILT_IN).faults == ()


def test_croissants_fell_by_more_than_a_tenth_and_nothing_else_did(tmp_path: Path) -> None:
    import duckdb

    make(tmp_path / "shop")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{tmp_path / 'shop' / 'data' / 'sales.duckdb'}' AS facts (READ_ONLY)")
        connection.execute("SET VARIABLE known_at = TIMESTAMP '2026-10-25 20:00:00'")
        connection.execute((tmp_path / "shop" / "known.sql").read_text())
        query = (tmp_path / "shop" / "skills" / "review-week" / "products.sql").read_text()
        fallen = connection.execute(query, {"week": "2026-10-19"}).fetchall()

    assert [(row[0], row[3] < -0.1) for row in fallen] == [
        ("croissant", True), ("coffee", False), ("bread", False), ("cake", False),
    ]  # fmt: skip


def test_its_sales_are_the_same_each_time() -> None:
    assert list(sales()) == list(sales())
    assert len(list(sales())) == 4 * 28


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(FolderInUse):
        make(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_whose_name_cannot_name_an_organisation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        make(tmp_path / "123")
