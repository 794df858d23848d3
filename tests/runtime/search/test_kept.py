from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runtime.search import KeptVectors
from tests.fakes.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

MEANINGS = {"weather": ("storm", "rain")}


async def test_what_was_made_once_is_read_by_the_next(tmp_path: Path) -> None:
    first = await KeptVectors(FakeEmbedder(MEANINGS), tmp_path).embed_passages(["storm", "sun", "storm"])
    second = FakeEmbedder(MEANINGS)

    again = await KeptVectors(second, tmp_path).embed_passages(["storm", "new", "sun", "storm"])

    assert second.embedded == ["new"]
    assert all(np.array_equal(one, other) for one, other in zip([again[0], again[2]], first, strict=False))


async def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    await KeptVectors(FakeEmbedder(MEANINGS), tmp_path).embed_passages(["storm"])
    [file] = (tmp_path / "fake").iterdir()
    file.write_bytes(b"\0" * 7)
    embedder = FakeEmbedder(MEANINGS)

    [vector] = await KeptVectors(embedder, tmp_path).embed_passages(["storm"])

    assert (embedder.embedded, len(vector)) == (["storm"], 2)


async def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "fake").write_text("a file in the place of the folder")

    [vector] = await KeptVectors(FakeEmbedder(MEANINGS), tmp_path).embed_passages(["storm"])

    assert len(vector) == 2
