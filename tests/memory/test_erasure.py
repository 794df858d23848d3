"""Erasure of a person: their words are in no table, no file and no blob afterwards, on every store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from contracts import HolderKind, MemoryClass, MemoryHolder
from memory.consolidation.shelf import Shelf
from memory.conversations import TURN
from memory.erasure import PersonErasure
from memory.files.exporting import export
from memory.personal.noticing import Notice
from memory.room import MemoryRoom
from runtime.canonical import sha256
from runtime.errors import NotFound
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.schema import metadata
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ANN, BEN, BUSINESS, ORGANISATION, a_draft
from tests.fakes.summariser import Summariser, one_each
from tests.memory.consolidation.test_listening import Talk
from tests.memory.personal.test_profile import turn
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]
pytestmark = pytest.mark.anyio
CANARY = "Zebedee"


@pytest.fixture
def memory(store: SqlStore, clock: HandClock, tmp_path: Path) -> MemoryRoom:
    model = Summariser(one_each())
    return MemoryRoom(
        store, ORGANISATION, clock=clock, settings=MemorySettings(), home=tmp_path / "home", ask=model.ask
    )  # fmt: skip


async def lived(memory: MemoryRoom, store: SqlStore, clock: HandClock) -> str:
    """Let a person live with the organisation for a while; return the address of what they attached."""
    book = memory.book
    first = await book.add(
        a_draft(f"My canary is {CANARY}.", holder=ANN, memory_class=MemoryClass.PREFERENCE), by="ann"
    )
    await book.correct(first.memory_id, {"text": f"{CANARY} is my canary's name."}, by="ann", version=1)
    gone = await book.add(a_draft(f"{CANARY} sings.", holder=ANN, domain="birds", project="cage"), by="ann")
    await book.withdraw(gone.memory_id, by="ann")
    await book.add(a_draft("I like tables.", holder=BEN), by="ben")
    await book.add(a_draft("Flour comes on Mondays, says Ann."), by="ann")
    for shelf in await memory.consolidator.shelves():
        await memory.consolidator.consolidate(shelf)
    await memory.profiles.notice("ann", turn("x", at=clock.now()), [Notice("entity", CANARY, 1.0, "asked")])
    await memory.profiles.set("ann", "topic", CANARY.lower())
    talk = Talk(store, "one")
    await talk.begin()
    await talk.say(f"Where is {CANARY}?", "I prefer tables.")
    await talk.say(f"{CANARY} is in the cage.", speaker="employee")
    attached = f"a picture of {CANARY}".encode()
    told: dict[str, Any] = {
        "turn": 9,
        "speaker": "person",
        "text": "See.",
        "attachments": [{"sha256": sha256(attached)}],
    }
    await store.ledger.append(
        Append(talk.stream, [NewEvent(TURN, told)], talk._version, ORGANISATION, "/t"), blobs=[attached]
    )
    other = Talk(store, "two", person="ben")
    await other.begin()
    await other.say("I prefer charts.")
    await memory.write_pages(clock.now())
    await export(book, [ANN, BEN, BUSINESS], memory.files)
    return sha256(attached)


def files_in(home: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file()}


async def everything(store: SqlStore, home: Path) -> dict[str, bytes]:
    """Return all bytes there are: each row of each table, and each file."""
    found = files_in(home)
    for table in metadata.sorted_tables:
        for number, row in enumerate(await store.reader.rows(select(table))):
            found[f"{table.name} {number}"] = b" ".join(
                each if isinstance(each, bytes) else str(each).encode() for each in row
            )
    return found


async def test_nothing_of_a_person_is_left_in_any_table_file_or_blob(
    memory: MemoryRoom, store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    attached = await lived(memory, store, clock)
    before = await everything(store, tmp_path)
    assert sum(CANARY.encode() in each or CANARY.lower().encode() in each for each in before.values()) >= 8

    erasure = PersonErasure(store, memory)
    looked = await erasure.look("ann", ["Ann"])
    assert (looked.memories, looked.conversations) == (2, 1) and looked.files > 0
    done = await erasure.erase("ann", by="ann", reason="asked for", now=clock.now(), names=["Ann"])

    after = await everything(store, tmp_path)
    left = {name for name, each in after.items() if CANARY.encode() in each or CANARY.lower().encode() in each}
    assert left == set()
    with pytest.raises(NotFound):
        await store.blobs.get(attached)
    assert done.blobs >= 1 and done.turns == 5 and len(done.texts) == 3
    [named] = done.named_in
    assert (await memory.book.get(named)).text == "Flour comes on Mondays, says Ann."
    assert await store.ledger.verify() == []


async def test_others_keep_what_is_theirs_and_a_second_erasure_finds_nothing(
    memory: MemoryRoom, store: SqlStore, clock: HandClock
) -> None:
    await lived(memory, store, clock)
    erasure = PersonErasure(store, memory)
    await erasure.erase("ann", by="ann", reason="asked for", now=clock.now())
    again = await erasure.erase("ann", by="ann", reason="asked for", now=clock.now())
    assert (again.memories, again.conversations, again.turns, again.files) == (0, 0, 0, 0)
    [page] = await memory.opening.tell([Shelf(BEN)], clock.now())
    assert page.text == "## Environment\n- I like tables."
    assert (memory.files / "people" / "ben" / "notes.md").is_file()
    turns = [event.data for event in await store.ledger.read("conversation/two")]
    assert all(turns)


async def test_an_erasure_that_was_killed_is_finished_by_asking_again(
    memory: MemoryRoom, store: SqlStore, clock: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived(memory, store, clock)
    really, counted = type(store.ledger).erase, 0

    async def dying(self: Any, stream: str, version: int) -> None:
        nonlocal counted
        counted += 1
        if counted == 7:
            raise KeyboardInterrupt
        await really(self, stream, version)

    monkeypatch.setattr(type(store.ledger), "erase", dying)
    with pytest.raises(KeyboardInterrupt):
        await PersonErasure(store, memory).erase("ann", by="ann", reason="asked for", now=clock.now())
    await PersonErasure(store, memory).erase("ann", by="ann", reason="asked for", now=clock.now())
    after = await everything(store, tmp_path)
    assert not [name for name, each in after.items() if CANARY.encode() in each]


async def test_a_person_of_whom_nothing_is_known_can_be_erased(
    memory: MemoryRoom, store: SqlStore, clock: HandClock
) -> None:
    done = await PersonErasure(store, memory).erase("nobody", by="ann", reason="x", now=clock.now())
    assert (done.memories, done.turns) == (0, 0)


async def test_people_of_a_like_name_are_not_erased_together(
    memory: MemoryRoom, store: SqlStore, clock: HandClock
) -> None:
    await memory.book.add(a_draft("Mine.", holder=MemoryHolder(kind=HolderKind.AGENT, name="ann")), by="x")
    await memory.book.add(a_draft("Hers.", holder=MemoryHolder(kind=HolderKind.PERSON, name="anna")), by="anna")
    await PersonErasure(store, memory).erase("ann", by="ann", reason="x", now=clock.now())
    assert await memory.book.count() == 2
