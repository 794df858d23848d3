"""Words in arrays say the same as words in dictionaries, whatever came and went."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.search import WordColumns
from runtime.search.bm25 import Bm25

WORDS = ["flight", "flights", "cancelled", "snow", "airport", "crew", "the", "取消", "航班取消", "雪", "Newark", "12"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@settings(max_examples=50)
@given(texts=st.lists(TEXTS, max_size=12), gone=st.sets(st.integers(0, 11)), query=TEXTS)
def test_scores_are_those_of_the_small_index(texts: list[str], gone: set[int], query: str) -> None:
    large, small = WordColumns(), Bm25({"text": 1.0})
    for number, text in enumerate(texts):
        large.put(number, text)
        small.add(str(number), {"text": text})
    for number in gone:
        large.remove(number)
        small.remove(str(number))

    scores, rare = large.scores(query, len(texts))
    expected = small.scores(query, {str(number) for number in range(len(texts))})
    for number in range(len(texts)):
        parts = expected.get(str(number), {})
        assert scores[number] == pytest.approx(sum(parts.values()), abs=1e-5)
        assert large.terms(number, rare) == pytest.approx(parts, abs=1e-5)
    assert len(large) == len(set(range(len(texts))) - gone)


def test_nothing_is_found_for_nothing() -> None:
    large = WordColumns()
    large.put(0, "")
    scores, rare = large.scores("the of", 1)
    assert not scores.any() and rare == {}
