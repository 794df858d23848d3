from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from runtime.search import EmbedderUnavailable, KeptVectors
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


async def test_queries_that_come_again_are_kept_and_told_from_passages(tmp_path: Path) -> None:
    await KeptVectors(FakeEmbedder(MEANINGS), tmp_path, queries=["storm"]).embed_queries(["storm"])
    embedder = FakeEmbedder(MEANINGS)
    kept = KeptVectors(embedder, tmp_path, queries=["storm"])

    await kept.embed_queries(["storm"])
    await kept.embed_passages(["storm"])
    await kept.embed_queries(["rain"])

    assert (embedder.asked, embedder.embedded) == (["rain"], ["storm"])


async def test_vectors_of_a_model_that_was_changed_behind_its_name_are_made_anew(tmp_path: Path) -> None:
    await KeptVectors(FakeEmbedder(MEANINGS), tmp_path).embed_passages(["storm", "sun"])
    other = KeptVectors(FakeEmbedder({"wind": ("wind",), **MEANINGS}), tmp_path)
    await other.embed_queries(["rain"])

    made = await other.embed_passages(["storm", "sun"])

    assert [len(vector) for vector in made] == [3, 3]


async def test_who_needs_a_text_that_is_being_embedded_waits_for_it(tmp_path: Path) -> None:
    class Slow(FakeEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
            await asyncio.sleep(0)
            return await super().embed_passages(texts)

    embedder = Slow(MEANINGS)
    kept = KeptVectors(embedder, tmp_path)

    await asyncio.gather(*(kept.embed_passages(["storm", "sun"]) for _ in range(5)))

    assert embedder.embedded == ["storm", "sun"]


async def test_what_was_made_before_a_failure_is_kept(tmp_path: Path) -> None:
    class Failing(FakeEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
            if self.embedded:
                raise EmbedderUnavailable("away")
            return await super().embed_passages(texts)

    texts = [f"text {number}" for number in range(300)]
    with pytest.raises(EmbedderUnavailable):
        await KeptVectors(Failing(MEANINGS), tmp_path).embed_passages(texts)
    embedder = FakeEmbedder(MEANINGS)

    await KeptVectors(embedder, tmp_path).embed_passages(texts)

    assert 0 < len(embedder.embedded) < 300


@pytest.mark.parametrize("name", ["BAAI/bge-m3:q4", "../up", "模型", "a" * 300, "."])
async def test_a_model_of_any_name_has_a_folder_of_its_own(tmp_path: Path, name: str) -> None:
    embedder = FakeEmbedder(MEANINGS)
    embedder.name = name

    await KeptVectors(embedder, tmp_path / "vectors").embed_passages(["storm"])

    [folder] = (tmp_path / "vectors").iterdir()
    assert [file.suffix for file in folder.iterdir()] == [".f32"]
