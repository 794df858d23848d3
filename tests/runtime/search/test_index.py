from __future__ import annotations

import pytest

from runtime.search import Document, SearchIndex
from tests.fakes.embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

MEANINGS = {"money": ("owe", "invoice", "账单", "欠"), "weather": ("storm", "rain", "暴风雨")}


def index(embedder: FakeEmbedder | None = None, share: float = 0.4) -> SearchIndex:
    found = SearchIndex({"title": 2.0, "body": 1.0}, embedder=embedder, keyword_share=share)
    found.put(
        Document("bill", {"title": "Unpaid invoice", "body": "A customer is late."}, {"owner": "finance"}),
        Document("sky", {"title": "A storm comes", "body": "Planes stay on the ground."}, {"owner": "operations"}),
        Document("empty", {"title": "", "body": " \n"}, {"owner": "finance"}),
    )
    return found


async def ids(of: SearchIndex, query: str, top: int = 5) -> list[str]:
    return [hit.document.id for hit in await of.search(query, top=top)]


async def test_without_an_embedder_words_alone_decide() -> None:
    [hit] = await index().search("late customers", top=5)

    assert (hit.document.id, hit.similarity) == ("bill", None)
    assert list(hit.terms) == ["custom", "late"]
    assert hit.keyword == pytest.approx(sum(hit.terms.values()))


async def test_a_query_without_any_of_the_words_finds_nothing_by_words() -> None:
    assert await ids(index(), "谁欠我们钱") == []


async def test_with_an_embedder_another_language_is_found_by_its_meaning() -> None:
    best = (await index(FakeEmbedder(MEANINGS)).search("谁欠我们钱", top=1))[0]

    assert (best.document.id, best.keyword, best.terms) == ("bill", 0.0, {})
    assert best.similarity is not None and best.similarity > 0


async def test_the_score_is_the_mix_of_both_sides() -> None:
    hits = {hit.document.id: hit for hit in await index(FakeEmbedder(MEANINGS), share=0.25).search("storm", top=5)}

    assert hits["bill"].score == 0.0
    assert 0.75 < hits["sky"].score < 1.0


@pytest.mark.parametrize("query", ["", " \n", "\0"])
async def test_an_empty_query_finds_nothing_and_is_not_embedded(query: str) -> None:
    assert await ids(index(FakeEmbedder(MEANINGS)), query.replace("\0", "")) == []


async def test_an_empty_document_is_never_embedded_and_never_found() -> None:
    embedder = FakeEmbedder(MEANINGS)

    assert "empty" not in await ids(index(embedder), "storm")
    assert sorted(embedder.embedded) == [
        "A customer is late.",
        "A storm comes",
        "Planes stay on the ground.",
        "Unpaid invoice",
    ]


async def test_a_text_is_embedded_once_and_again_only_when_it_changed() -> None:
    embedder = FakeEmbedder(MEANINGS)
    found = index(embedder)
    await ids(found, "storm")
    embedder.embedded.clear()

    found.put(Document("sky", {"title": "A storm comes", "body": "Planes stay on the ground."}, {"owner": "nobody"}))
    await ids(found, "storm")
    assert embedder.embedded == []

    found.put(Document("sky", {"title": "Rain"}))
    await ids(found, "storm")
    assert embedder.embedded == ["Rain"]


async def test_what_changed_is_found_as_it_is_now() -> None:
    found = index()
    found.put(Document("sky", {"title": "Volcanic ash"}))

    assert await ids(found, "storm") == []
    assert await ids(found, "ash") == ["sky"]


async def test_what_was_removed_is_not_found_any_more() -> None:
    found = index(FakeEmbedder(MEANINGS))
    await ids(found, "storm")
    found.remove("sky", "unknown")

    assert "sky" not in await ids(found, "storm")
    assert len(found) == 2


async def test_only_documents_that_the_filter_lets_pass_are_looked_at() -> None:
    embedder = FakeEmbedder(MEANINGS)
    hits = await index(embedder).search("storm", top=5, where=lambda each: each.metadata["owner"] == "finance")

    assert [hit.document.id for hit in hits] == ["bill"]
    assert "A storm comes" not in embedder.embedded


async def test_equals_come_in_order_of_their_ids() -> None:
    found = SearchIndex({"title": 1.0})
    found.put(*(Document(name, {"title": "storm"}) for name in "cab"))

    assert await ids(found, "storm", top=2) == ["a", "b"]


async def test_odd_characters_reach_no_embedder() -> None:
    embedder = FakeEmbedder(MEANINGS)
    found = index(embedder)
    found.put(Document("odd", {"title": "a\0b \ud800"}))

    assert await ids(found, "storm \ud800\0")
    assert "a␀b \ufffd" in embedder.embedded
