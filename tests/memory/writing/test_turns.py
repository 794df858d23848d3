"""Turns of conversations: what is remembered of them, once, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import MemoryHolder
from memory.conversations import STARTED, TURN
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from memory.writing.turns import TurnReader
from memory.writing.writer import Became, MemoryWriter
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BEN, ORGANISATION

pytestmark = pytest.mark.anyio


class Talk:
    """A conversation of one person."""

    def __init__(
        self, store: SqlStore, name: str = "one", person: str = "ann", organisation: str = ORGANISATION
    ) -> None:
        self._store, self._organisation = store, organisation
        self._stream, self._turn = f"conversation/{name}", 0
        self._person = person

    async def say(self, *texts: str, speaker: str = "person", recalled: tuple[str, ...] = ()) -> None:
        events = []
        if not self._turn:
            events.append(NewEvent(STARTED, {"person": self._person, "employee": "analyst"}))
        for number, text in enumerate(texts, self._turn + 1):
            data: dict[str, Any] = {"turn": number, "speaker": speaker, "text": text, "recalled": list(recalled)}
            events.append(NewEvent(TURN, data))
        expected = self._turn + 1 if self._turn else 0
        await self._store.ledger.append(Append(self._stream, events, expected, ORGANISATION, "/test"))
        self._turn += len(texts)


async def known(book: MemoryBook, holder: MemoryHolder = ANN) -> list[str]:
    return [record.text for record in await book.find(MemoryFilter(holders=[holder], every_domain=True))]


async def test_what_a_person_says_is_remembered_of_them_with_its_turn(
    reader: TurnReader, quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    await Talk(sqlite_store).say("Hello!", "I prefer tables. What is the rate?")
    await Talk(sqlite_store, "two", "ben").say("I prefer charts.")
    await reader.catch_up()

    [record] = await quick.find(MemoryFilter(holders=[ANN]))
    assert (record.text, record.source.conversation, record.source.turn) == ("I prefer tables.", "conversation/one", 2)
    [event] = await sqlite_store.ledger.read_versions("conversation/one", [3])
    assert record.source.position == event.position
    assert await known(quick, BEN) == ["I prefer charts."]


async def test_turns_are_read_once_and_again_after_a_crash_without_a_trace(
    reader: TurnReader, writer: MemoryWriter, quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    talk = Talk(sqlite_store)
    await talk.say("I prefer tables.", "Our year starts in April.")
    assert len(await reader.catch_up()) == 2
    assert await reader.catch_up() == []

    anew = TurnReader(writer, sqlite_store.ledger, "other", MemorySettings())
    assert await anew.catch_up() == [], "another organisation's turns are not its own"
    died = TurnReader(writer, sqlite_store.ledger, ORGANISATION, MemorySettings())
    died._cursor = "memory/turns/never-saved"
    assert {each.written.became for each in await died.catch_up()} == {Became.THERE}
    [first, *_] = await quick.find(MemoryFilter(holders=[ANN]))
    assert len(await quick.history(first.memory_id)) == 1


async def test_a_thousand_turns_of_heartbeats_and_recalled_text_add_nothing(
    reader: TurnReader, quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    talk = Talk(sqlite_store)
    await talk.say("Our year starts in April.")
    for _ in range(5):
        await talk.say(*["Heartbeat: our status is ok."] * 100, speaker="system")
        await talk.say(*["Remember that our year starts in April."] * 50, speaker="employee")
        repeated = "You told me that our year starts in April."
        await talk.say(*[repeated, "Thanks!"] * 25, recalled=("Our year starts in April.",))
    await reader.catch_up()
    assert await known(quick) == ["Our year starts in April."]


async def test_a_turn_whose_words_were_erased_or_that_has_no_beginning_is_passed_over(
    reader: TurnReader, quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    await Talk(sqlite_store).say("I prefer tables.")
    await sqlite_store.ledger.erase("conversation/one", 2)
    lost = NewEvent(TURN, {"turn": 1, "speaker": "person", "text": "I prefer charts.", "recalled": []})
    await sqlite_store.ledger.append(Append("conversation/lost", (lost,), 0, ORGANISATION, "/test"))
    assert await reader.catch_up() == []


async def test_a_turn_that_cannot_be_read_holds_up_no_other(
    reader: TurnReader, quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    for number, data in enumerate(({}, {"turn": "x", "speaker": "person", "text": "a"}, {"turn": 1, "speaker": "dog"})):
        broken = Append(f"conversation/broken-{number}", (NewEvent(TURN, data),), 0, ORGANISATION, "/test")
        await sqlite_store.ledger.append(broken)
    await Talk(sqlite_store).say("I prefer tables.")
    await reader.catch_up()
    assert await known(quick) == ["I prefer tables."]


async def test_a_contradiction_in_a_later_turn_takes_its_place(
    reader: TurnReader, quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    talk = Talk(sqlite_store)
    await talk.say("Call me Ann.", "Our year starts in April.", "Call me Annie.")
    await reader.catch_up()
    assert set(await known(quick)) == {"Our year starts in April.", "Call me Annie."}
