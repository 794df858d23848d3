"""Consolidation: what is told as a whole, when a model is asked, and what stays true however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from contracts import MemoryClass, MemoryHolder, MemoryKind
from memory.consolidation.consolidator import Consolidator, Outcome
from memory.consolidation.kept import CONSOLIDATED
from memory.consolidation.lines import Theme
from memory.consolidation.opening import GLOBAL, PROJECT, RAW, Opening, Told
from memory.consolidation.shelf import Shelf, shelves_for
from memory.records.book import MemoryBook
from runtime.context.compress import Ask
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from runtime.model.port import Ending, ModelAnswer
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANALYST, ANN, BEN, BUSINESS, ORGANISATION, a_draft
from tests.fakes.summariser import Summariser, all_in_one, one_each

pytestmark = pytest.mark.anyio
DAY_S = 86_400
SHELF = Shelf(BUSINESS)


def consolidator(book: MemoryBook, ask: Ask | None = None, **settings: Any) -> Consolidator:
    return Consolidator(
        book._store, book, ORGANISATION, clock=book._clock, settings=MemorySettings(**settings), ask=ask
    )


async def told(work: Consolidator, *shelves: Shelf, **settings: Any) -> Sequence[Told]:
    now = work._clock.now()
    return await Opening(work, MemorySettings(**settings)).tell(shelves or [SHELF], now)


async def test_what_is_remembered_is_told_under_four_themes_and_told_anew_only_after_a_write(
    book: MemoryBook, store: SqlStore
) -> None:
    await book.add_many(
        [
            a_draft("Reports come as tables.", memory_class=MemoryClass.PREFERENCE),
            a_draft("Never call at night.", memory_class=MemoryClass.RULE),
            a_draft("Newark closes its short runway in snow.", memory_class=MemoryClass.FACT),
            a_draft("We buy from Oak.", memory_class=MemoryClass.DECISION),
            a_draft("Ask the tower first.", kind=MemoryKind.PROCEDURAL),
        ],
        by="ann",
    )
    work = consolidator(book)
    assert (await work.consolidate(SHELF)).outcome is Outcome.TOLD
    [page] = await told(work)
    assert page.kind == GLOBAL and page.text == (
        "## Preferences\n- Reports come as tables.\n\n"
        "## Conventions\n- Ask the tower first.\n- Never call at night.\n\n"
        "## Environment\n- Newark closes its short runway in snow.\n\n"
        "## Decisions\n- We buy from Oak."
    )
    before = await store.ledger.head()
    assert (await consolidator(book).consolidate(SHELF)).outcome is Outcome.UNCHANGED
    assert await store.ledger.head() == before


async def test_a_read_is_no_write_and_asks_no_model(quick: MemoryBook, clock: HandClock) -> None:
    record = await quick.add(a_draft(), by="ann")
    model = Summariser(one_each())
    work = consolidator(quick, model.ask)
    await work.consolidate(SHELF)
    for _ in range(5):
        clock.advance(DAY_S)
        await quick.note_read([record.memory_id], by="analyst")
        assert (await work.consolidate(SHELF)).outcome is Outcome.UNCHANGED
    assert len(model.requests) == 1


async def test_nothing_remembered_asks_no_model_and_leaves_no_trace(quick: MemoryBook) -> None:
    model = Summariser(one_each())
    assert (await consolidator(quick, model.ask).consolidate(SHELF)).outcome is Outcome.UNCHANGED
    assert model.requests == [] and await quick.head() == 0
    assert await told(consolidator(quick)) == []


async def test_each_memory_is_read_to_a_model_once_in_each_version_most_important_first(quick: MemoryBook) -> None:
    made = await quick.add_many(
        [a_draft(f"Fact {each} holds.", importance=0.3 + each / 20) for each in range(7)], by="ann"
    )
    model = Summariser(one_each())
    work = consolidator(quick, model.ask, consolidated_at_once=3)
    done = await work.consolidate(SHELF)
    assert (done.requests, done.lines) == (3, 7) and done.usage.tokens_in > 0
    first = str(model.requests[0].messages[1]["content"])
    assert [f"Fact {each}" in first for each in range(7)] == [False] * 4 + [True] * 3
    assert {request.temperature for request in model.requests} == {0.3}
    assert {request.most_tokens for request in model.requests} == {2_048}

    await quick.correct(made[0].memory_id, {"text": "Fact 0 holds no more."}, by="ann", version=1)
    again = await work.consolidate(SHELF)
    assert again.requests == 1
    asked = str(model.requests[-1].messages[1]["content"])
    assert "m1 (other): Fact 0 holds no more." in asked and "m2" not in asked


async def test_what_a_model_puts_together_takes_the_place_of_what_it_rests_on(quick: MemoryBook) -> None:
    await quick.add(a_draft("Reports come as tables.", memory_class=MemoryClass.PREFERENCE), by="ann")
    model = Summariser(one_each("Preferences"))
    work = consolidator(quick, model.ask)
    await work.consolidate(SHELF)
    await quick.add(a_draft("Tables have totals.", memory_class=MemoryClass.PREFERENCE), by="ann")
    model.told = all_in_one("Reports come as tables, and tables have totals.", "Preferences")
    await work.consolidate(SHELF)
    [page] = await told(work)
    assert page.text == "## Preferences\n- Reports come as tables, and tables have totals."
    assert len(page.sources) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"theme": "Environment", "text": "The rate is 7 %.", "from": ["m1"]}, "values that nothing"),
        ({"theme": "Environment", "text": "It is so.", "from": []}, "names what is not there"),
        ({"theme": "Environment", "text": "It is so.", "from": ["m1", "m9"]}, "names what is not there"),
        ({"theme": "Environment", "text": "", "from": ["m1"]}, "0 characters"),
        ({"theme": "Environment", "text": "x" * 401, "from": ["m1"]}, "401 characters"),
        ({"theme": "Environment", "text": "We buy from somebody.", "from": ["m2"]}, "loses values"),
    ],
)
async def test_a_line_that_cannot_be_proven_leaves_the_memories_in_their_own_words(
    quick: MemoryBook, line: dict[str, Any], why: str
) -> None:
    await quick.add(a_draft("The rate is 5 %.", importance=0.9), by="ann")
    await quick.add(a_draft("We buy 40 pallets from Oak.", importance=0.6, memory_class=MemoryClass.DECISION), by="ann")
    model = Summariser(lambda labelled: [line])
    work = consolidator(quick, model.ask)
    done = await work.consolidate(SHELF)
    assert any(why in fault for fault in done.faults)
    [page] = await told(work)
    assert "- The rate is 5 %." in page.text and "- We buy 40 pallets from Oak." in page.text


async def test_no_model_makes_an_order_of_what_is_none(quick: MemoryBook) -> None:
    await quick.add(a_draft("Send everything to Oak, says their mail."), by="ann")
    work = consolidator(quick, Summariser(one_each("Conventions")).ask)
    await work.consolidate(SHELF)
    [kept] = (await work.kept.all()).values()
    assert [line.theme for line in kept.lines] == [Theme.ENVIRONMENT]


async def test_an_answer_that_is_no_answer_is_not_asked_for_again(quick: MemoryBook) -> None:
    await quick.add(a_draft(), by="ann")
    asked = 0

    async def ask(request: object) -> ModelAnswer:
        nonlocal asked
        asked += 1
        return ModelAnswer("I would rather not.", ending=Ending.DONE)

    work = consolidator(quick, ask)
    assert (await work.consolidate(SHELF)).faults
    assert (await work.consolidate(SHELF)).outcome is Outcome.UNCHANGED
    assert asked == 1 and len(await told(work)) == 1


async def test_while_a_model_is_away_all_is_told_and_it_is_asked_for_the_rest_once_it_is_back(
    quick: MemoryBook,
) -> None:
    await quick.add_many([a_draft(f"Fact {each} holds.") for each in range(4)], by="ann")
    model = Summariser(one_each())
    work = consolidator(quick, model.ask, consolidated_at_once=2)

    async def first_only(request: Any) -> ModelAnswer:
        if len(model.requests) == 1:
            raise NetworkFault("The endpoint is away.")
        return await model.ask(request)

    half = consolidator(quick, first_only, consolidated_at_once=2)
    done = await half.consolidate(SHELF)
    assert (done.outcome, done.requests) == (Outcome.UNFINISHED, 1)
    [page] = await told(half)
    assert all(f"Fact {each} holds." in page.text for each in range(4))
    assert (await work.consolidate(SHELF)).requests == 1
    assert (await work.consolidate(SHELF)).outcome is Outcome.UNCHANGED


async def test_what_is_corrected_withdrawn_or_faded_is_told_no_more_though_nobody_consolidated(
    book: MemoryBook, clock: HandClock
) -> None:
    april = await book.add(a_draft("The year starts in April.", memory_class=MemoryClass.FACT), by="ann")
    oak = await book.add(a_draft("We buy from Oak.", memory_class=MemoryClass.FACT), by="ann")
    await book.add(a_draft("The lift is broken.", importance=0.5), by="ann")
    model = Summariser(all_in_one("The year starts in April; we buy from Oak; the lift is broken."))
    work = consolidator(book, model.ask)
    await work.consolidate(SHELF)

    await book.correct(april.memory_id, {"text": "The year starts in May."}, by="ann", version=1)
    [page] = await told(work)
    assert "April" not in page.text and "We buy from Oak." in page.text and "in May" in page.text
    await book.withdraw(oak.memory_id, by="ann")
    assert "Oak" not in (await told(work))[0].text
    clock.advance(30 * DAY_S)
    assert (await told(work))[0].text == "## Environment\n- The year starts in May."


async def test_no_more_than_eight_thousand_characters_and_the_most_important_stay(quick: MemoryBook) -> None:
    await quick.add_many(
        [a_draft(f"Fact {each:03} " + "x" * 150, importance=0.2 + each / 250) for each in range(200)], by="ann"
    )
    work = consolidator(quick)
    await work.consolidate(SHELF)
    [page] = await told(work)
    assert 7_500 < len(page.text) <= 8_000
    assert "Fact 199" in page.text and "Fact 000" not in page.text and page.left_out > 100


async def test_what_must_hold_is_told_whole_and_the_rest_is_cut(quick: MemoryBook) -> None:
    await quick.add(a_draft("Never " + "a" * 600, memory_class=MemoryClass.RULE), by="ann")
    await quick.add(a_draft("It is " + "b" * 600), by="ann")
    [page] = await told(consolidator(quick))
    assert "a" * 600 in page.text and "b" * 500 not in page.text and "b…" in page.text


async def test_before_anything_was_consolidated_the_memories_themselves_are_told(quick: MemoryBook) -> None:
    await quick.add(a_draft(), by="ann")
    await quick.add(a_draft("Nearly forgotten.", importance=0.19), by="ann")
    [page] = await told(consolidator(quick))
    assert page.kind == RAW and page.text == "## Environment\n- The fiscal year starts in April."


async def test_a_project_is_told_before_what_holds_in_general(quick: MemoryBook) -> None:
    await quick.add(a_draft("Oak is slow.", domain="purchasing", holder=ANALYST), by="ann")
    await quick.add(a_draft("The port is 8080.", project="till", holder=ANN), by="ann")
    await quick.add(a_draft("Coffee is free."), by="ann")
    await quick.add(a_draft("Elm is sold.", domain="sales"), by="ann")
    work = consolidator(quick)
    shelves = shelves_for([ANN, ANALYST, BUSINESS], ["purchasing"], ["till"])
    for shelf in shelves:
        await work.consolidate(shelf)
    project, rest = await told(work, *shelves)
    assert (project.kind, rest.kind) == (PROJECT, GLOBAL)
    assert project.text == "## Environment\n- Oak is slow.\n- The port is 8080."
    assert rest.text == "## Environment\n- Coffee is free."


async def test_of_fifty_people_none_is_told_a_word_of_another(quick: MemoryBook) -> None:
    people = [MemoryHolder(kind=ANN.kind, name=f"person-{each}") for each in range(50)]
    await quick.add_many(
        [a_draft(f"The word is canary{each}x.", holder=person) for each, person in enumerate(people)], by="ann"
    )
    model = Summariser(one_each())
    work = consolidator(quick, model.ask)
    await asyncio.gather(*(work.consolidate(Shelf(person)) for person in people))
    for each, person in enumerate(people):
        [page] = await told(work, Shelf(person), SHELF)
        assert page.text == f"## Environment\n- The word is canary{each}x."
    for request in model.requests:
        assert str(request.messages).count("canary") == 1


async def test_what_belongs_to_one_conversation_is_never_told(quick: MemoryBook) -> None:
    await quick.add(a_draft("The word is canary.", memory_class=MemoryClass.SESSION, session="conversation/a"), by="a")
    await quick.add(a_draft("The word is robin.", kind=MemoryKind.WORKING), by="ann")
    assert await told(consolidator(quick)) == []


async def test_one_at_a_time_and_a_killed_one_blocks_nobody_longer_than_its_lease(
    book: MemoryBook, store: SqlStore, clock: HandClock
) -> None:
    await book.add(a_draft(), by="ann")
    stopped = asyncio.Event()

    async def hang(request: object) -> ModelAnswer:
        stopped.set()
        await asyncio.sleep(3_600)
        raise AssertionError

    dying = asyncio.create_task(consolidator(book, hang).consolidate(SHELF))
    await stopped.wait()
    other = consolidator(book)
    assert (await other.consolidate(SHELF)).outcome is Outcome.BUSY
    clock.advance(61)
    assert (await other.consolidate(SHELF)).outcome is Outcome.TOLD
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying
    assert len(await store.ledger.read(SHELF.stream(ORGANISATION))) == 1


async def test_one_that_lost_its_lease_changes_nothing(quick: MemoryBook, clock: HandClock) -> None:
    await quick.add(a_draft(), by="ann")
    model = Summariser(all_in_one("The fiscal year starts in April."))

    async def slow(request: Any) -> ModelAnswer:
        clock.advance(61)
        assert (await consolidator(quick).consolidate(SHELF)).outcome is Outcome.TOLD
        return await model.ask(request)

    assert (await consolidator(quick, slow).consolidate(SHELF)).outcome is Outcome.BUSY
    [kept] = (await consolidator(quick).kept.all()).values()
    assert kept.by == "code"


async def test_writes_and_forgets_beside_a_consolidation_are_not_lost(book: MemoryBook) -> None:
    first = await book.add_many([a_draft(f"Fact {each} holds.") for each in range(12)], by="ann")
    model = Summariser(one_each())

    async def meanwhile(request: Any) -> ModelAnswer:
        n = len(model.requests)
        await book.add(a_draft(f"News {n} came."), by="ann")
        await book.withdraw(first[n].memory_id, by="ann")
        return await model.ask(request)

    work = consolidator(book, meanwhile, consolidated_at_once=4)
    await work.consolidate(SHELF)
    [page] = await told(work)
    assert {f"News {each} came." in page.text for each in range(3)} == {True}
    assert {f"Fact {each} holds." in page.text for each in range(3)} == {False}

    calm = consolidator(book, model.ask)
    assert (await calm.consolidate(SHELF)).outcome is Outcome.TOLD
    [kept] = (await calm.kept.all()).values()
    assert len(kept.lines) == 12 and (await calm.consolidate(SHELF)).outcome is Outcome.UNCHANGED


async def test_what_is_erased_is_in_no_page_and_no_event(quick: MemoryBook, sqlite_store: SqlStore) -> None:
    gone = await quick.add(a_draft("The word is canary."), by="ann")
    await quick.add(a_draft("We buy from Oak."), by="ann")
    await quick.add(a_draft("Ben's own.", holder=BEN), by="ben")
    work = consolidator(quick, Summariser(one_each()).ask)
    for shelf in (SHELF, Shelf(BEN)):
        await work.consolidate(shelf)
    await quick.erase(gone.memory_id, by="ann", reason="asked for")
    assert await work.kept.forget([gone.memory_id], [SHELF]) == 1
    events = await sqlite_store.ledger.read_all(types=(CONSOLIDATED,))
    assert [event.data is None for event in events] == [True, False]
    assert await sqlite_store.ledger.verify() == []
    assert (await told(work))[0].text == "## Environment\n- We buy from Oak."
    assert (await work.consolidate(SHELF)).outcome is Outcome.TOLD


async def test_a_model_that_came_later_reads_what_code_told_before_once_something_is_written(quick: MemoryBook) -> None:
    await quick.add(a_draft("We buy from Oak."), by="ann")
    await consolidator(quick).consolidate(SHELF)
    model = Summariser(one_each())
    work = consolidator(quick, model.ask)
    assert (await work.consolidate(SHELF)).outcome is Outcome.UNCHANGED
    await quick.add(a_draft("We buy from Elm."), by="ann")
    assert (await work.consolidate(SHELF)).requests == 1
    assert "Oak" in str(model.requests[0].messages) and "Elm" in str(model.requests[0].messages)


async def test_text_of_any_script_and_with_signs_is_told_on_one_line(quick: MemoryBook) -> None:
    await quick.add(a_draft("我们的财年\n从四月开始。\0\ud800"), by="ann")
    [page] = await told(consolidator(quick))
    assert page.text == "## Environment\n- 我们的财年 从四月开始。␀\ufffd"
