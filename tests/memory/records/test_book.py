"""The book of memories on every store: what is written, changed, taken back and erased."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryId, MemorySource, MemoryState
from memory.records.book import MemoryBook
from memory.records.errors import MemoryPast
from memory.records.port import MemoryFilter
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BEN, BUSINESS, ORGANISATION, a_draft

pytestmark = pytest.mark.anyio
EVERYTHING = MemoryFilter(states=tuple(MemoryState), every_domain=True)


async def test_what_is_written_is_found_by_any_book_on_the_store(
    book: MemoryBook, store: SqlStore, clock: HandClock
) -> None:
    written = await book.add(a_draft("Ann likes tea. 安喜欢喝茶 🍵", holder=ANN, domain="kitchen"), by="ann")
    other = MemoryBook(store, ORGANISATION, clock=clock, settings=MemorySettings())

    assert await other.find(MemoryFilter(holders=[ANN], domains=["kitchen"])) == [written]
    assert await other.get(written.memory_id) == written
    assert await other.find(MemoryFilter(holders=[BEN], every_domain=True)) == []
    assert await other.find(MemoryFilter()) == [], "no domain was asked for"


async def test_another_organisation_sees_nothing(book: MemoryBook, store: SqlStore, clock: HandClock) -> None:
    written = await book.add(a_draft(), by="ann")
    elsewhere = MemoryBook(store, "corner-shop", clock=clock, settings=MemorySettings())

    assert await elsewhere.find(EVERYTHING) == []
    assert (await elsewhere.changes()).records == []
    with pytest.raises(NotFound):
        await elsewhere.get(written.memory_id)
    with pytest.raises(NotFound):
        await elsewhere.withdraw(written.memory_id, by="eve")


async def test_many_are_written_together_and_come_page_by_page(book: MemoryBook) -> None:
    made = await book.add_many([a_draft(f"Fact {number}.") for number in range(1_203)], by="ann")
    found: list[MemoryId] = []
    while page := await book.find(MemoryFilter(), after=found[-1] if found else None, limit=500):
        found += [record.memory_id for record in page]
    assert found == sorted(record.memory_id for record in made)


async def test_a_correction_is_a_new_version_and_can_be_taken_back(book: MemoryBook) -> None:
    first = await book.add(a_draft("The year starts in April."), by="ann")
    second = await book.correct(first.memory_id, {"text": "It starts in May."}, by="ben", version=1, reason="moved")
    assert (second.version, second.text, second.written_by) == (2, "It starts in May.", "ben")

    third = await book.undo(first.memory_id, by="ann")
    assert (third.version, third.text, third.written_by) == (3, first.text, "ann")
    told = await book.history(first.memory_id)
    assert [(each.event, each.by, each.reason) for each in told] == [
        ("memory.written", "ann", ""), ("memory.corrected", "ben", "moved"), ("memory.reverted", "ann", ""),
    ]  # fmt: skip
    with pytest.raises(MemoryPast, match="nothing to take back"):
        await book.undo(first.memory_id, by="ann")


async def test_of_two_corrections_of_one_version_one_wins(book: MemoryBook) -> None:
    record = await book.add(a_draft(), by="ann")
    ended = await asyncio.gather(
        *(book.correct(record.memory_id, {"text": who}, by=who, version=1) for who in ("ann", "ben")),
        return_exceptions=True,
    )
    assert sorted(type(each).__name__ for each in ended) == ["MemoryRecord", "VersionConflict"]
    assert (await book.get(record.memory_id)).version == 2


async def test_of_a_correction_and_a_withdrawal_at_once_nothing_is_lost(book: MemoryBook) -> None:
    record = await book.add(a_draft(), by="ann")
    await asyncio.gather(
        book.correct(record.memory_id, {"text": "Other."}, by="ann", version=1),
        book.withdraw(record.memory_id, by="ben"),
        return_exceptions=True,
    )
    stands = await book.get(record.memory_id)
    kinds = [each.event for each in await book.history(record.memory_id)]
    assert stands.state is MemoryState.WITHDRAWN
    assert (stands.text == "Other.") == ("memory.corrected" in kinds)


async def test_what_is_superseded_is_linked_and_nobody_finds_it_as_current(book: MemoryBook, clock: HandClock) -> None:
    about = {"subject": "Fiscal year", "relation": "starts in", "holder": BUSINESS}
    old = await book.add(a_draft("April.", value="April", **about), by="ann")
    clock.advance(86_400)
    new = await book.add(a_draft("May.", value="May", **about), by="ann", supersedes=old.memory_id)

    gone = await book.get(old.memory_id)
    assert (gone.state, gone.superseded_by, gone.valid_until) == (
        MemoryState.SUPERSEDED, new.memory_id, new.valid_from,
    )  # fmt: skip
    assert new.supersedes == old.memory_id
    assert await book.about(BUSINESS, None, "  FISCAL  year", "Starts in") == [new]
    assert [record.memory_id for record in await book.find(MemoryFilter())] == [new.memory_id]


async def test_a_supersession_that_is_taken_back_takes_the_newer_one_away(book: MemoryBook) -> None:
    old = await book.add(a_draft("April."), by="ann")
    new = await book.add(a_draft("May."), by="ann", supersedes=old.memory_id)
    back = await book.undo(old.memory_id, by="ben", reason="wrong")

    assert (back.state, back.superseded_by, back.valid_until) == (MemoryState.ACTIVE, None, None)
    assert (await book.get(new.memory_id)).state is MemoryState.WITHDRAWN
    with pytest.raises(MemoryPast):
        await book.supersede(new.memory_id, newer=old.memory_id, by="ann")


async def test_a_disputed_one_holds_once_a_person_says_so(book: MemoryBook) -> None:
    old = await book.add(a_draft("We buy from Oak."), by="ann")
    new = await book.add(a_draft("We buy from Elm."), by="analyst", disputes=old.memory_id)
    assert [record.text for record in await book.find(MemoryFilter())] == ["We buy from Oak."]
    assert (new.state, new.disputes) == (MemoryState.DISPUTED, old.memory_id)

    confirmed = await book.confirm(new.memory_id, by="ann", supersedes=old.memory_id)
    assert (confirmed.state, confirmed.supersedes, confirmed.disputes) == (MemoryState.ACTIVE, old.memory_id, None)
    assert [record.text for record in await book.find(MemoryFilter())] == ["We buy from Elm."]


async def test_a_disputed_one_can_be_confirmed_when_what_it_contradicts_is_gone(quick: MemoryBook) -> None:
    old = await quick.add(a_draft("We buy from Oak."), by="ann")
    new = await quick.add(a_draft("We buy from Elm."), by="analyst", disputes=old.memory_id)
    await quick.withdraw(old.memory_id, by="ann")
    assert (await quick.confirm(new.memory_id, by="ann", supersedes=old.memory_id)).state is MemoryState.ACTIVE
    assert (await quick.get(old.memory_id)).state is MemoryState.WITHDRAWN


async def test_what_is_said_again_grows_surer_and_is_counted_from_now(book: MemoryBook, clock: HandClock) -> None:
    record = await book.add(a_draft(importance=0.5, confidence=0.5), by="ann")
    clock.advance(10 * 86_400)
    again = await book.reinforce(record.memory_id, source=MemorySource(conversation="conversation/x", turn=4), by="ann")
    assert (again.importance, again.confidence) == (pytest.approx(0.525), pytest.approx(0.6))
    assert again.accessed_at == clock.now() and again.version == 1


async def test_reads_of_several_are_noted_in_one_commit_and_only_of_what_is_active(
    book: MemoryBook, store: SqlStore
) -> None:
    made = await book.add_many([a_draft(f"Fact {each}.", importance=0.98) for each in range(3)], by="ann")
    await book.withdraw(made[2].memory_id, by="ann")
    ids = [record.memory_id for record in made]
    before = await store.ledger.head()
    await book.note_read([*ids, ids[0]], by="analyst")
    await book.note_read([ids[0]], by="analyst")

    assert [(await book.get(each)).importance for each in ids] == [1.0, 1.0, 0.98]
    assert await store.ledger.head() == before + 3


async def test_what_is_put_away_can_be_restored_and_begins_to_fade_anew(book: MemoryBook, clock: HandClock) -> None:
    record = await book.add(a_draft(importance=0.4), by="ann")
    await book.archive(record.memory_id, by="ann")
    clock.advance(100 * 86_400)
    back = await book.restore(record.memory_id, by="ann")
    assert (back.state, back.importance, back.accessed_at) == (MemoryState.ACTIVE, 0.4, clock.now())


async def test_the_words_of_an_erased_one_are_nowhere_and_the_audit_is_clean(book: MemoryBook, store: SqlStore) -> None:
    record = await book.add(a_draft("The canary sings."), by="ann")
    await book.correct(record.memory_id, {"text": "The canary sleeps."}, by="ann", version=1, reason="a canary")
    await book.find(MemoryFilter())
    for _ in range(2):  # whoever was killed in the middle does it again
        await book.erase(record.memory_id, by="ann", reason="asked for")

    with pytest.raises(NotFound, match="erased"):
        await book.get(record.memory_id)
    assert [each.event for each in await book.history(record.memory_id)] == []
    assert await book.find(EVERYTHING) == []
    assert (await book.changes()).gone == [record.memory_id]
    events = await store.ledger.read(record.memory_id)
    assert "canary" not in repr([event.data for event in events])
    assert await store.ledger.verify() == []


async def test_a_reader_of_changes_misses_nothing(book: MemoryBook) -> None:
    first = await book.add(a_draft("One."), by="ann")
    seen = await book.changes()
    await book.add(a_draft("Two."), by="ann")
    await book.archive(first.memory_id, by="ann")
    more = await book.changes(after=seen.position)
    assert {record.text: record.state.value for record in more.records} == {"One.": "archived", "Two.": "active"}
    assert (await book.changes(after=more.position)).records == []


async def test_the_table_makes_itself_again_as_it_was(book: MemoryBook) -> None:
    made = await book.add_many([a_draft(f"Fact {number}.") for number in range(5)], by="ann")
    await book.correct(made[0].memory_id, {"text": "Other."}, by="ann", version=1)
    await book.archive(made[1].memory_id, by="ann")
    await book.erase(made[2].memory_id, by="ann", reason="asked for")
    before = await book.find(EVERYTHING)
    assert await book.table.rebuild() == 5
    assert await book.find(EVERYTHING) == before


async def test_filters_leave_only_what_they_name(quick: MemoryBook, clock: HandClock) -> None:
    began = clock.now()
    named = {"entities": ("Newark", "Jane Doe"), "intent": "plan", "session": "conversation/x", "project": "relief"}
    found = await quick.add(a_draft("Newark is closed.", memory_class=MemoryClass.TASK, **named), by="ann")
    clock.advance(60)
    await quick.add(a_draft("Something else."), by="ann")
    for which in (
        MemoryFilter(entities=["newark"]), MemoryFilter(intents=["plan"]), MemoryFilter(sessions=["conversation/x"]),
        MemoryFilter(projects=["relief"]), MemoryFilter(classes=[MemoryClass.TASK]),
        MemoryFilter(until=began + timedelta(seconds=30)),
    ):  # fmt: skip
        assert await quick.find(which) == [found]
    assert found not in await quick.find(MemoryFilter(since=began + timedelta(seconds=30)))


async def test_people_of_one_name_and_an_agent_of_it_are_kept_apart(quick: MemoryBook) -> None:
    agent = MemoryHolder(kind=HolderKind.AGENT, name="ann")
    await quick.add(a_draft("Of the person.", holder=ANN), by="ann")
    assert await quick.find(MemoryFilter(holders=[agent])) == []


async def test_what_cannot_be_kept_is_refused_with_every_fault(quick: MemoryBook) -> None:
    with pytest.raises(InvalidArguments, match=r"text: .*importance: "):
        await quick.add(a_draft("", importance=2.0), by="ann")
    record = await quick.add(a_draft("NUL \0 and \ud800 are signs like others."), by="ann")
    assert record.text == "NUL \u2400 and \ufffd are signs like others."
    with pytest.raises(VersionConflict, match="at version 1 by now"):
        await quick.correct(record.memory_id, {"text": "x"}, by="ann", version=7)
    assert await quick.find(MemoryFilter()) == [record]


async def test_a_turn_that_is_read_twice_counts_once(quick: MemoryBook) -> None:
    said = MemorySource(conversation="conversation/x", turn=1)
    record = await quick.add(a_draft(confidence=0.5, source=said), by="ann")
    assert (await quick.reinforce(record.memory_id, source=said, by="ann")).confidence == 0.5
    later = MemorySource(conversation="conversation/x", turn=2)
    for _ in range(3):
        again = await quick.reinforce(record.memory_id, source=later, by="ann")
    assert again.confidence == pytest.approx(0.6)
    by_hand = MemorySource(said_by="ann")
    for _ in range(2):
        again = await quick.reinforce(record.memory_id, source=by_hand, by="ann")
    assert again.confidence == pytest.approx(0.744)


async def test_what_is_restored_takes_its_place_again_from_whatever_holds_there(book: MemoryBook) -> None:
    april = await book.add(a_draft("April."), by="ann")
    may = await book.add(a_draft("May."), by="ann", supersedes=april.memory_id)
    await book.undo(april.memory_id, by="ann")
    june = await book.add(a_draft("June."), by="ann", supersedes=april.memory_id)

    await book.restore(may.memory_id, by="ann")
    assert [record.text for record in await book.find(MemoryFilter())] == ["May."]
    gone = await book.get(june.memory_id)
    assert (gone.state, gone.superseded_by) == (MemoryState.SUPERSEDED, may.memory_id)


async def test_what_is_restored_in_its_own_place_changes_nothing_else(quick: MemoryBook) -> None:
    april = await quick.add(a_draft("April."), by="ann")
    may = await quick.add(a_draft("May."), by="ann", supersedes=april.memory_id)
    await quick.withdraw(may.memory_id, by="ann")
    await quick.restore(may.memory_id, by="ann")
    assert (await quick.get(april.memory_id)).superseded_by == may.memory_id
    assert [record.text for record in await quick.find(MemoryFilter())] == ["May."]


async def test_supersessions_are_taken_back_from_the_newest(quick: MemoryBook) -> None:
    april = await quick.add(a_draft("April."), by="ann")
    may = await quick.add(a_draft("May."), by="ann", supersedes=april.memory_id)
    june = await quick.add(a_draft("June."), by="ann", supersedes=may.memory_id)
    with pytest.raises(MemoryPast, match="take that back first"):
        await quick.undo(april.memory_id, by="ann")
    await quick.undo(may.memory_id, by="ann")
    await quick.undo(april.memory_id, by="ann")
    states = [(await quick.get(each.memory_id)).state.value for each in (april, may, june)]
    assert states == ["active", "withdrawn", "withdrawn"]


async def test_a_dispute_that_was_withdrawn_is_open_again_once_restored(book: MemoryBook) -> None:
    oak = await book.add(a_draft("We buy from Oak."), by="ann")
    elm = await book.add(a_draft("We buy from Elm."), by="analyst", disputes=oak.memory_id)
    await book.withdraw(elm.memory_id, by="ann")
    assert (await book.restore(elm.memory_id, by="ann")).state is MemoryState.DISPUTED
    await book.withdraw(elm.memory_id, by="ann")
    assert (await book.undo(elm.memory_id, by="ann")).state is MemoryState.DISPUTED
    assert [record.text for record in await book.find(MemoryFilter())] == ["We buy from Oak."]


async def test_a_confirmed_one_takes_the_place_of_what_holds_by_now(quick: MemoryBook) -> None:
    oak = await quick.add(a_draft("We buy from Oak."), by="ann")
    elm = await quick.add(a_draft("We buy from Elm."), by="analyst", disputes=oak.memory_id)
    ash = await quick.add(a_draft("We buy from Ash."), by="ann", supersedes=oak.memory_id)
    confirmed = await quick.confirm(elm.memory_id, by="ann", supersedes=oak.memory_id)
    assert confirmed.supersedes == ash.memory_id
    assert [record.text for record in await quick.find(MemoryFilter())] == ["We buy from Elm."]
