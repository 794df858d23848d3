"""Searches: who finds what, in which order, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryKind
from memory.recall.recall import MemoryRecall, Recall
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from runtime.search import EmbedderUnavailable
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANALYST, ANN, BEN, BUSINESS, a_draft

if TYPE_CHECKING:
    from runtime.search.port import Vector

pytestmark = pytest.mark.anyio
DAY_S = 86_400


class TwoMeanings:
    """An embedder that knows two things: money, and everything else."""

    name = "two-meanings"
    away = False
    size = 2

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self.away:
            raise EmbedderUnavailable("The endpoint is away.")
        return [self._vector(text) for text in texts]

    embed_passages = embed_queries

    def _vector(self, text: str) -> Vector:
        money = any(word in text.lower() for word in ("invoice", "bill", "pay"))
        return np.eye(self.size, dtype=np.float32)[0 if money else 1]


@pytest.fixture
def recall(quick: MemoryBook) -> MemoryRecall:
    return MemoryRecall(quick, MemorySettings())


def texts(found: Recall) -> list[str]:
    return [hit.record.text for hit in found.hits]


async def test_the_sentence_that_answers_comes_first_and_says_why(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add_many(
        [
            a_draft("Newark closes its short runway in snow.", entities=("Newark",)),
            a_draft("The runway of Teterboro is long."),
            a_draft("Snow was heavy in 2013."),
            a_draft("Lunch is at noon."),
        ],
        by="ann",
    )
    found = await recall.search("Does Newark close a runway in snow?", MemoryFilter(), now=clock.now())

    assert texts(found)[0] == "Newark closes its short runway in snow."
    assert "Lunch is at noon." not in texts(found)
    best = found.hits[0]
    assert list(best.terms) and set(best.terms) == {"newark", "close", "runway", "snow"}
    added = sum(best.parts[part] for part in ("words", "phrase"))
    assert best.score == pytest.approx(added * best.parts["fresh"] * best.parts["personal"])
    assert 0 < best.parts["phrase"] <= 0.1


async def test_chinese_is_found_by_chinese(quick: MemoryBook, recall: MemoryRecall, clock: HandClock) -> None:
    await quick.add_many([a_draft("纽瓦克机场下雪时关闭短跑道。"), a_draft("午餐在中午。")], by="ann")
    found = await recall.search("哪个机场下雪关跑道？", MemoryFilter(), now=clock.now())
    assert texts(found) == ["纽瓦克机场下雪时关闭短跑道。"]


async def test_what_changed_in_the_ledger_is_found_at_once_as_it_is_now(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    record = await quick.add(a_draft("The year starts in April."), by="ann")
    assert texts(await recall.search("year", MemoryFilter(), now=clock.now())) == ["The year starts in April."]
    await quick.correct(record.memory_id, {"text": "The year starts in May."}, by="ann", version=1)
    assert texts(await recall.search("year", MemoryFilter(), now=clock.now())) == ["The year starts in May."]
    await quick.archive(record.memory_id, by="ann")
    assert texts(await recall.search("year", MemoryFilter(), now=clock.now())) == []
    await quick.restore(record.memory_id, by="ann")
    await quick.erase(record.memory_id, by="ann", reason="asked for")
    assert texts(await recall.search("year", MemoryFilter(), now=clock.now())) == []


async def test_nobody_finds_what_is_superseded_or_does_not_hold_yet(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    old = await quick.add(a_draft("The year starts in April."), by="ann")
    await quick.add(a_draft("The year starts in May."), by="ann", supersedes=old.memory_id)
    later = clock.now().replace(year=2030)
    await quick.add(a_draft("The year starts in June.", valid_from=later), by="ann")
    assert texts(await recall.search("year starts", MemoryFilter(), now=clock.now())) == ["The year starts in May."]
    assert len((await recall.search("year starts", MemoryFilter(), now=later)).hits) == 2


async def test_domains_and_holders_never_leak_into_each_other(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    """Look-alike facts of two domains and three holders, asked for in every combination, again and again."""
    drafts = [
        a_draft(f"The limit for item {item} is {item * 10} USD.", domain=domain, holder=holder)
        for item in range(5)
        for domain in ("sales", "purchasing", None)
        for holder in (BUSINESS, ANN, BEN)
    ]
    await quick.add_many(drafts, by="ann")
    asked = 0
    for item in range(5):
        for domains in ([], ["sales"], ["purchasing"], ["sales", "purchasing"]):
            for holders in ([BUSINESS], [BUSINESS, ANN], [BEN]):
                which = MemoryFilter(domains=domains, holders=holders)
                found = await recall.search(f"limit item {item}", which, now=clock.now(), top=20)
                asked += 1
                assert found.hits
                assert {hit.record.domain for hit in found.hits} <= {None, *domains}
                assert {hit.record.holder for hit in found.hits} <= set(holders)
    assert asked == 60


async def test_ten_thousand_questions_of_one_domain_see_nothing_of_the_other(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    drafts = [
        a_draft(f"Supplier {n % 50} delivers on day {n}.", domain=domain)
        for n in range(200)
        for domain in ("sales", "purchasing")
    ]
    made = await quick.add_many(drafts, by="ann")
    await recall.search("supplier", MemoryFilter(domains=["sales"]), now=clock.now())
    foreign = [recall._kept.index.ids.index(record.memory_id) for record in made if record.domain == "purchasing"]
    which = MemoryFilter(domains=["sales"])
    for n in range(10_000):
        scores, _, mask = recall._kept.index.by_words(f"supplier {n % 50} day {n % 200}", which, clock.now())
        assert not mask[foreign].any()
        assert not scores[foreign].any()


async def test_of_fifty_agents_at_once_each_finds_its_own_word_alone(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    holders = [MemoryHolder(kind=HolderKind.AGENT, name=f"agent-{n}") for n in range(50)]
    await quick.add_many(
        [a_draft(f"The secret word is canary{n}.", holder=each) for n, each in enumerate(holders)], by="x"
    )
    found = await asyncio.gather(
        *(recall.search("secret word", MemoryFilter(holders=[each]), now=clock.now()) for each in holders)
    )
    assert [texts(each) for each in found] == [[f"The secret word is canary{n}."] for n in range(50)]


async def test_filters_by_kind_time_session_and_name_hold_in_a_search(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add(a_draft("Snow one.", kind=MemoryKind.EPISODIC, session="conversation/x", intent="plan"), by="ann")
    clock.advance(DAY_S)
    await quick.add(a_draft("Snow two.", entities=("Newark",), project="relief"), by="ann")
    for which, expected in (
        (MemoryFilter(kinds=[MemoryKind.EPISODIC]), "Snow one."),
        (MemoryFilter(sessions=["conversation/x"]), "Snow one."),
        (MemoryFilter(intents=["plan"]), "Snow one."),
        (MemoryFilter(until=clock.now()), "Snow one."),
        (MemoryFilter(since=clock.now()), "Snow two."),
        (MemoryFilter(entities=["NEWARK"]), "Snow two."),
        (MemoryFilter(projects=["relief"]), "Snow two."),
    ):
        assert texts(await recall.search("snow", which, now=clock.now())) == [expected]


async def test_what_is_old_and_right_still_comes_before_what_is_new_and_beside_the_point(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add(a_draft("The vault code is kept by Morgan in the north office."), by="ann")
    clock.advance(365 * DAY_S)
    await quick.add(a_draft("The north office was painted."), by="ann")
    found = await recall.search("Who keeps the vault code?", MemoryFilter(), now=clock.now())
    assert texts(found)[0].startswith("The vault code")
    assert found.hits[0].parts["fresh"] == pytest.approx(0.7)


async def test_of_two_that_say_the_same_the_fresher_comes_first(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add(a_draft("Gate B is closed today."), by="ann")
    clock.advance(20 * DAY_S)
    await quick.add(a_draft("Gate B is closed again."), by="ann")
    found = await recall.search("gate b closed", MemoryFilter(), now=clock.now())
    assert texts(found) == ["Gate B is closed again.", "Gate B is closed today."]


async def test_what_is_only_said_again_in_the_same_words_takes_no_room(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add_many([a_draft("Gate B is closed.", domain=domain) for domain in ("old", "new")], by="ann")
    found = await recall.search("gate b", MemoryFilter(domains=["old", "new"]), now=clock.now())
    assert texts(found) == ["Gate B is closed."]


async def test_no_more_than_five_and_two_thousand_tokens_and_what_had_no_room_is_named(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    long = [a_draft(f"snow {n} " + "runway closed " * 280) for n in range(4)]
    await quick.add_many([*long, *(a_draft(f"Snow fell on day {n}.") for n in range(9))], by="ann")
    found = await recall.search("snow runway closed", MemoryFilter(), now=clock.now())
    assert len(found.hits) <= 5 and sum(hit.tokens for hit in found.hits) <= 2_000
    assert found.no_room


async def test_meaning_finds_what_no_word_tells_and_words_go_on_without_it(quick: MemoryBook, clock: HandClock) -> None:
    embedder = TwoMeanings()
    recall = MemoryRecall(quick, MemorySettings(), embedder)
    await quick.add_many([a_draft("Invoices of Oak are due in June."), a_draft("Birds sing at dawn.")], by="ann")
    found = await recall.search("When do we pay?", MemoryFilter(), now=clock.now())
    assert texts(found)[0] == "Invoices of Oak are due in June."
    assert found.hits[0].parts["meaning"] > 0 and found.by_words == ""

    embedder.away = True
    without = await recall.search("invoices of oak", MemoryFilter(), now=clock.now())
    assert texts(without) == ["Invoices of Oak are due in June."]
    assert without.by_words == "The endpoint is away."


async def test_a_model_of_another_size_makes_all_vectors_anew(quick: MemoryBook, clock: HandClock) -> None:
    embedder = TwoMeanings()
    recall = MemoryRecall(quick, MemorySettings(), embedder)
    await quick.add_many([a_draft("Invoices of Oak are due in June."), a_draft("Birds sing at dawn.")], by="ann")
    await recall.search("When do we pay?", MemoryFilter(), now=clock.now())
    embedder.size = 5
    found = await recall.search("When do we pay?", MemoryFilter(), now=clock.now())
    assert texts(found)[0] == "Invoices of Oak are due in June." and found.hits[0].parts["meaning"] > 0


async def test_searches_go_on_while_most_memories_go_and_the_index_is_made_anew(
    quick: MemoryBook, clock: HandClock
) -> None:
    recall = MemoryRecall(quick, MemorySettings(), TwoMeanings())
    made = await quick.add_many([a_draft(f"Invoice {n} of Oak.") for n in range(1_200)], by="ann")

    async def ask() -> None:
        for _ in range(20):
            found = await recall.search("bill 1199", MemoryFilter(), now=clock.now())
            assert "Invoice 1199 of Oak." in texts(found)

    async def forget() -> None:
        for record in made[:700]:
            await quick.erase(record.memory_id, by="ann", reason="gone")

    await asyncio.gather(*(ask() for _ in range(4)), forget())
    await ask()
    assert len(recall._kept.index.ids) < 1_200


async def test_who_asks_may_change_the_order_and_not_what_is_found(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock
) -> None:
    await quick.add_many([a_draft("Snow at Newark."), a_draft("Snow at Kennedy.")], by="ann")
    for liked in ("Newark", "Kennedy"):
        found = await recall.search(
            "snow",
            MemoryFilter(),
            now=clock.now(),
            personal=lambda record, liked=liked: 1.2 if liked in record.text else 1,  # type: ignore[misc]
        )
        assert texts(found)[0] == f"Snow at {liked}." and len(found.hits) == 2


@pytest.mark.parametrize("query", ["", "   ", "the of and", "\0\ud800"])
async def test_a_question_without_words_finds_nothing(
    quick: MemoryBook, recall: MemoryRecall, clock: HandClock, query: str
) -> None:
    await quick.add(a_draft("The of and."), by="ann")
    assert list((await recall.search(query, MemoryFilter(holders=[ANALYST]), now=clock.now())).hits) == []


async def test_rules_are_as_fresh_as_ever(quick: MemoryBook, recall: MemoryRecall, clock: HandClock) -> None:
    await quick.add(a_draft("Never call at night.", memory_class=MemoryClass.RULE), by="ann")
    clock.advance(900 * DAY_S)
    [hit] = (await recall.search("call at night", MemoryFilter(), now=clock.now())).hits
    assert hit.parts["fresh"] == 1.0
