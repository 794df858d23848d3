"""A server that watches an organisation takes in what people say there, and lets memories fade."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.beats.beat import Beat
from console.resources import Resources
from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryState
from memory.consolidation.shelf import Shelf
from memory.conversations import STARTED, TURN
from memory.personal.acting import form_of
from memory.records.book import MemoryBook
from memory.records.port import MemoryFilter
from runtime.ledger.port import Append, NewEvent
from tests.console.beats.desk import cron, make_desk, served
from tests.fakes.clock import HandClock
from tests.fakes.memories import a_draft

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> HandClock:
    return HandClock(datetime(2026, 12, 1, 5, 30, tzinfo=UTC))


@pytest.fixture
async def resources(tmp_path: Path, clock: HandClock) -> AsyncIterator[Resources]:
    async with served(tmp_path / "home", clock) as resources:
        yield resources


async def test_what_was_said_is_remembered_and_what_nobody_reads_is_archived(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    desk = make_desk(tmp_path / "desk", morning=cron("0 7 1 1 *"))
    store = await resources.store()
    beat = Beat(resources, desk)
    await beat.go()
    name = (await (await resources.organisations()).current(desk))[0].name
    book = MemoryBook(store, name, clock=clock, settings=resources.settings.memory)
    faint = await book.add(a_draft("Nobody asks for this.", importance=0.01), by="ann")
    said = [
        NewEvent(STARTED, {"person": "ann", "employee": "head"}),
        NewEvent(TURN, {"turn": 1, "speaker": "person", "text": "I prefer tables.", "recalled": []}),
    ]
    await store.ledger.append(Append("conversation/one", said, 0, name, "/test"))
    for _ in range(4):
        clock.advance(86_400)
        await beat.go()

    found = await book.find(MemoryFilter())
    assert [record.text for record in found] == ["I prefer tables."]
    assert (await book.get(faint.memory_id)).state is MemoryState.ARCHIVED
    await beat.close()


async def test_a_conversation_that_begins_is_told_what_is_remembered_and_its_person_noticed(
    tmp_path: Path, clock: HandClock, resources: Resources
) -> None:
    desk = make_desk(tmp_path / "desk", morning=cron("0 7 1 1 *"))
    store = await resources.store()
    beat = Beat(resources, desk)
    await beat.go()
    organisation = (await (await resources.organisations()).current(desk))[0]
    memory = (await resources.organisations()).memory(organisation)
    person = MemoryHolder(kind=HolderKind.PERSON, name="ann")
    await memory.book.add(a_draft("I like tables.", holder=person, memory_class=MemoryClass.PREFERENCE), by="ann")
    said = [
        NewEvent(STARTED, {"person": "ann", "employee": "head"}),
        NewEvent(TURN, {"turn": 1, "speaker": "person", "text": "I prefer prose.", "recalled": []}),
    ]
    await store.ledger.append(Append("conversation/one", said, 0, organisation.name, "/test"))
    page = memory.auto_pages.path(Shelf(person))
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(page.is_file):  # it goes on beside the beat
            clock.advance(5)
            await beat.go()
            await asyncio.sleep(0.05)
    assert "- I like tables." in await asyncio.to_thread(page.read_text)
    assert form_of(await memory.profiles.get("ann")).format == "prose"
    await beat.close()
