from __future__ import annotations

import numpy as np
import pytest

from runtime.search.centring import SAMPLES, Centred, Usual, centred, usual_of
from tests.fakes.embedder import FakeEmbedder

USUAL = Usual(spaced=np.array([1, 0, 0], dtype=np.float32), unspaced=np.array([0, 1, 0], dtype=np.float32))


def test_what_is_usual_for_a_language_is_gone() -> None:
    english = centred(np.array([1, 0, 1], dtype=np.float32), "a storm", USUAL)
    chinese = centred(np.array([0, 1, 1], dtype=np.float32), "暴风雨", USUAL)

    assert float(english @ chinese) == pytest.approx(1.0)


def test_a_mixed_text_loses_the_mixture() -> None:
    mixed = centred(np.array([0.5, 0.5, 2], dtype=np.float32), "雨 rain", USUAL)

    assert mixed == pytest.approx([0, 0, 1])


def test_a_text_that_is_nothing_but_usual_stays_a_vector_without_direction() -> None:
    assert centred(USUAL.spaced, "a", USUAL) == pytest.approx([0, 0, 0])


@pytest.mark.anyio
async def test_what_is_usual_is_measured_once_for_each_form_and_both_languages() -> None:
    embedder = FakeEmbedder({"river": ("river", "河边")})
    both = Centred(embedder)

    await both.embed_queries(["rain"])
    await both.embed_queries(["rain"])
    await both.embed_passages(["rain"])

    assert embedder.asked == ["rain", *SAMPLES, "rain"]
    assert embedder.embedded == ["rain", *SAMPLES]
    assert both.name == "fake-centred"


def test_what_is_usual_is_the_mean_of_the_samples_of_each_language() -> None:
    half = len(SAMPLES) // 2
    vectors = [np.full(2, 1, dtype=np.float32)] * half + [np.full(2, 3, dtype=np.float32)] * half

    usual = usual_of(vectors)

    assert (usual.spaced.tolist(), usual.unspaced.tolist()) == ([1, 1], [3, 3])
