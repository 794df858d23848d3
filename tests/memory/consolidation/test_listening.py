"""Conversations: what is consolidated when one begins, and what is noted of a project every tenth turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from contracts import MemoryClass
from memory.consolidation.consolidator import Consolidator, Outcome
from memory.consolidation.listening import ConversationListener, Heard
from memory.consolidation.opening import Opening
from memory.consolidation.project import ProjectNotes
from memory.consolidation.shelf import shelves_of_conversation
from memory.conversations import ENDED, STARTED, TURN, Started
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from memory.writing.writer import MemoryWriter
from runtime.context.compress import Ask
from runtime.errors import NetworkFault
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BEN, ORGANISATION, a_draft
from tests.fakes.summariser import Summariser

pytestmark = pytest.mark.anyio
STACK = {"about": "stack", "text": "The till runs on port 8080.", "from": "t1"}


class Talk:
    """A conversation of one person about a project."""

    def __init__(
        self, store: SqlStore, name: str, *, person: str = "ann", project: str | None = "till",
        domain: str | None = None, organisation: str = ORGANISATION,
    ) -> None:  # fmt: skip
        self._ledger, self.stream, self._organisation = store.ledger, f"conversation/{name}", organisation
        self._began = {"person": person, "employee": "analyst", "project": project, "domain": domain}
        self._version = self._turn = 0

    async def begin(self) -> Started:
        [event] = await self._append(NewEvent(STARTED, self._began))
        started = Started.of(event)
        assert started is not None
        return started

    async def say(self, *texts: str, speaker: str = "person", recalled: Sequence[str] = ()) -> None:
        for text in texts:
            self._turn += 1
            told: dict[str, Any] = {
                "turn": self._turn, "speaker": speaker, "text": text, "recalled": list(recalled),
            }  # fmt: skip
            await self._append(NewEvent(TURN, told))

    async def end(self) -> None:
        await self._append(NewEvent(ENDED, {}))

    async def _append(self, event: NewEvent) -> Any:
        done = await self._ledger.append(Append(self.stream, [event], self._version, self._organisation, "/test"))
        self._version += 1
        return done


def listener(book: MemoryBook, ask: Ask | None = None, **settings: Any) -> ConversationListener:
    store, clock, chosen = book._store, book._clock, MemorySettings(**settings)
    work = Consolidator(store, book, ORGANISATION, clock=clock, settings=chosen, ask=ask)
    writer = MemoryWriter(book, clock, chosen)
    notes = None if ask is None else ProjectNotes(store.ledger, writer, chosen, ask)
    return ConversationListener(work, store.ledger, ORGANISATION, chosen, notes)


async def told(hears: ConversationListener, started: Started, clock: HandClock) -> list[str]:
    pages = await Opening(hears._consolidator, MemorySettings()).tell(shelves_of_conversation(started), clock.now())
    return [page.text for page in pages]


async def notes(book: MemoryBook) -> list[str]:
    return [record.text for record in await book.find(MemoryFilter(projects=["till"], every_domain=True))]


def outcomes(heard: Heard) -> list[Outcome]:
    return [each.outcome for each in heard.consolidations]


async def test_a_conversation_that_begins_is_told_what_changed_since_the_last_one(
    book: MemoryBook, store: SqlStore, clock: HandClock
) -> None:
    await book.add(a_draft("I like tables.", holder=ANN, memory_class=MemoryClass.PREFERENCE), by="ann")
    await book.add(a_draft("I like charts.", holder=BEN), by="ben")
    hears = listener(book)
    started = await Talk(store, "one").begin()
    assert outcomes(await hears.catch_up()) == [Outcome.TOLD]
    assert await told(hears, started, clock) == ["## Preferences\n- I like tables."]
    await Talk(store, "two").begin()
    assert outcomes(await hears.catch_up()) == []
    assert outcomes(await listener(book).catch_up()) == []


async def test_a_thousand_conversations_without_a_write_ask_no_model(quick: MemoryBook, sqlite_store: SqlStore) -> None:
    await quick.add(a_draft(holder=ANN), by="ann")
    model = Summariser(lambda labelled: [])
    hears = listener(quick, model.ask)
    began = {"person": "ann", "employee": "analyst", "project": "till"}
    await sqlite_store.ledger.append(
        *(Append(f"conversation/c{n}", [NewEvent(STARTED, began)], 0, ORGANISATION, "/test") for n in range(1_000))
    )
    await hears.catch_up()
    assert len(model.requests) == 1


async def test_every_tenth_turn_what_people_said_of_their_project_is_noted_for_it(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    hears = listener(quick, model.ask)
    talk = Talk(sqlite_store, "one")
    started = await talk.begin()
    await talk.say("Our till runs on port 8080.", *["Well."] * 8)
    await hears.catch_up()
    assert model.requests == []
    await talk.say("Go on.")
    heard = await hears.catch_up()
    assert heard.noted == 1 and await notes(quick) == ["The till runs on port 8080."]
    [record] = await quick.find(MemoryFilter(projects=["till"]))
    assert (record.holder, record.source.turn, record.memory_class) == (ANN, 1, MemoryClass.FACT)
    assert (await told(hears, started, clock))[0] == "## Environment\n- The till runs on port 8080."
    assert str(model.requests[0].messages).count("Well.") == 8

    await listener(quick, model.ask).catch_up()
    await talk.say(*["Well."] * 10)
    await hears.catch_up()
    assert await notes(quick) == ["The till runs on port 8080."]


@pytest.mark.parametrize(
    "note",
    [
        STACK | {"text": "The till runs on port 9090."},
        STACK | {"from": "t12"},
        STACK | {"about": "gossip"},
        STACK | {"text": ""},
        {"about": "stack"},
        STACK | {"text": "x" * 401},
    ],
)
async def test_what_nobody_said_is_not_noted(quick: MemoryBook, sqlite_store: SqlStore, note: dict[str, str]) -> None:
    model = Summariser(lambda labelled: [note], field="notes")
    talk = Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("Our till runs on port 8080.", *["Well."] * 9)
    await listener(quick, model.ask).catch_up()
    assert await notes(quick) == []


async def test_what_was_shown_or_said_by_the_product_is_not_noted(quick: MemoryBook, sqlite_store: SqlStore) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    talk = Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("Our till runs on port 8080.", recalled=["The till runs on port 8080."])
    await talk.say(*["The system says 8081."] * 5, speaker="system")
    await talk.say(*["I see 8082."] * 4, speaker="employee")
    await listener(quick, model.ask).catch_up()
    assert await notes(quick) == []
    assert "8081" not in str(model.requests) and "8082" not in str(model.requests)


async def test_conversations_about_no_project_and_those_of_others_are_left_alone(
    quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    for talk in (Talk(sqlite_store, "one", project=None), Talk(sqlite_store, "two", organisation="other")):
        await talk.begin()
        await talk.say(*["Our till runs on port 8080."] * 10)
    await listener(quick, model.ask).catch_up()
    assert model.requests == []


@pytest.mark.parametrize("ends", [False, True], ids=["by the next look", "when the conversation ends"])
async def test_a_look_that_met_no_model_is_made_up_for(
    quick: MemoryBook, sqlite_store: SqlStore, *, ends: bool
) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    model.fails.append(NetworkFault("The endpoint is away."))
    hears, talk = listener(quick, model.ask), Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("Our till runs on port 8080.", *["Well."] * 11)
    assert (await hears.catch_up()).noted == 0
    await (talk.end() if ends else talk.say(*["Well."] * 8))
    assert (await hears.catch_up()).noted == 1
    assert await notes(quick) == ["The till runs on port 8080."]
    asked = len(model.requests)
    await listener(quick, model.ask).catch_up()
    assert len(model.requests) == asked


async def test_a_conversation_that_ends_before_a_look_was_due_asks_no_model(
    quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    hears, talk = listener(quick, model.ask), Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("Our till runs on port 8080.")
    await talk.end()
    await hears.catch_up()
    assert model.requests == []


async def test_a_pasted_file_does_not_keep_the_turns_around_it_from_being_read(
    quick: MemoryBook, sqlite_store: SqlStore
) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    talk = Talk(sqlite_store, "one")
    await talk.begin()
    await talk.say("Our till runs on port 8080.", "words " * 50_000, *["Well."] * 8)
    await listener(quick, model.ask).catch_up()
    assert await notes(quick) == ["The till runs on port 8080."]
    assert len(str(model.requests[0].messages)) < 10_000


async def test_what_cannot_be_read_or_asked_for_holds_up_nobody(quick: MemoryBook, sqlite_store: SqlStore) -> None:
    model = Summariser(lambda labelled: [STACK], field="notes")
    model.fails.append(NetworkFault("The endpoint is away."))
    broken = Append("conversation/bad", [NewEvent(STARTED, {"person": "ann"})], 0, ORGANISATION, "/test")
    await sqlite_store.ledger.append(broken)
    for name in ("one", "two"):
        talk = Talk(sqlite_store, name)
        await talk.begin()
        await talk.say("Our till runs on port 8080.", *["Well."] * 9)
    heard = await listener(quick, model.ask).catch_up()
    assert heard.noted == 1 and len(model.requests) >= 2
