"""The example organisation comes to the same on Ray as inline."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.alike import text_alike
from tests.examples.conftest import GOAL, ROOT, Desk, example

__all__ = ["example"]
pytestmark = [pytest.mark.timeout(300), pytest.mark.thorough]


@pytest.fixture
def desks(tmp_path: Path, ray_cluster: Any) -> Iterator[tuple[Desk, Desk]]:
    """A terminal for each engine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILICON_", "OPENAI_"))}
    environment = {**kept, "PYTHONPATH": str(ROOT), "SILICON_LEDGER__SYNCHRONOUS": "NORMAL"}
    both = tuple(Desk(tmp_path / name, environment) for name in ("inline", "ray"))
    for desk in both:
        desk.folder.mkdir()
    both[1].environment = {**environment, "SILICON_WORKFORCE__ENGINE": "ray", "RAY_ADDRESS": ray_cluster.address}
    yield both[0], both[1]
    for desk in both:
        desk.stop_services()


def test_the_main_job_ends_in_the_same_report_and_card(desks: tuple[Desk, Desk], example: Path) -> None:
    said = [desk.json("run", str(example), GOAL, exits=3) for desk in desks]

    reports = [(desk.folder / one["products"][0]["path"]).read_text() for desk, one in zip(desks, said, strict=True)]
    assert text_alike(reports[0]) == text_alike(reports[1])
    options = [text_alike(json.dumps(one["cards"][0]["options"])) for one in said]
    assert options[0] == options[1]
    assert desks[1].json("audit", "verify")["faults"] == []
