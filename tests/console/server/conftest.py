"""A home folder with an office in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.server.office import Site, Work, make_office


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.stop()


@pytest.fixture
def site(tmp_path: Path, work: Work) -> Site:
    """An embedded ledger, and an office of four pieces of work."""
    return Site(tmp_path, work, make_office(tmp_path / "office", work, steps=4))
