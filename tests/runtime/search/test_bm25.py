from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.search.bm25 import Bm25

WORDS = ("invoice", "flight", "storm", "取消", "账单")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def filled(**texts: str) -> Bm25:
    index = Bm25({"text": 1.0})
    for name, text in texts.items():
        index.add(name, {"text": text})
    return index


def total(index: Bm25, query: str, name: str, *among: str) -> float:
    return sum(index.scores(query, among or (name,)).get(name, {}).values())


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    index = filled(a="invoice storm", b="invoice flight", c="invoice gate")

    parts = index.scores("invoice storm", ("a",))["a"]

    assert parts["storm"] > parts["invoic"] > 0


def test_a_word_in_a_short_text_counts_more_than_in_a_long_one() -> None:
    index = filled(a="storm", b="storm over the airport with snow and ice and wind", c="gate")

    assert total(index, "storm", "a") > total(index, "storm", "b")


def test_a_field_counts_as_much_as_its_weight() -> None:
    index = Bm25({"title": 3.0, "body": 1.0})
    index.add("a", {"title": "storm", "body": "gate"})
    index.add("b", {"title": "gate", "body": "storm"})

    assert total(index, "storm", "a") > total(index, "storm", "b")


def test_a_shared_character_finds_and_a_shared_pair_finds_better() -> None:
    found = filled(dunning="催款", billing="开票", payment="收货款")

    assert found.scores("货款", ("dunning", "billing", "payment")).keys() == {"dunning", "payment"}
    assert total(found, "货款", "payment") > 3 * total(found, "货款", "dunning") > 0


def test_only_documents_that_are_asked_for_are_scored() -> None:
    assert set(filled(a="storm", b="storm").scores("storm", ("b",))) == {"b"}


def test_no_document_scores_more_than_the_most_of_its_query() -> None:
    index = filled(a="storm " * 50, b="gate")

    assert 0 < total(index, "storm flight", "a") < index.most("storm flight")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.none() | TEXTS), max_size=20), TEXTS)
def test_after_any_changes_it_scores_like_one_that_was_filled_at_once(
    changes: list[tuple[str, str | None]], query: str
) -> None:
    changed, stands = Bm25({"text": 1.0}), dict[str, str]()
    for name, text in changes:
        if text is None:
            changed.remove(name)
            stands.pop(name, None)
        else:
            changed.add(name, {"text": text})
            stands[name] = text

    found, wanted = changed.scores(query, "abcd"), filled(**stands).scores(query, "abcd")

    assert found.keys() == wanted.keys()
    assert all(found[name] == pytest.approx(wanted[name]) for name in wanted)
