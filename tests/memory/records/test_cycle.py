"""The daily cycle over simulated months."""

from __future__ import annotations

import asyncio

import pytest

from contracts import MemoryClass, MemoryKind, MemoryState
from memory.records.book import MemoryBook
from memory.records.cycle import DecayCycle
from memory.records.port import MemoryFilter
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ORGANISATION, a_draft

pytestmark = pytest.mark.anyio
DAY_S = 86_400


def cycle_of(book: MemoryBook, store: SqlStore) -> DecayCycle:
    return DecayCycle(book, store.ledger, ORGANISATION, MemorySettings())


async def test_one_that_nobody_reads_is_archived_by_the_third_cycle_that_finds_it_faint(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    record = await quick.add(a_draft(importance=1.0), by="ann")
    archived_on = None
    for day in range(1, 40):
        clock.advance(DAY_S)
        report = await cycle_of(quick, sqlite_store).hold(clock.now())
        assert report is not None
        if report.archived:
            archived_on = day
            break
    assert archived_on == 31  # faint on days 29, 30 and 31
    assert (await quick.get(record.memory_id)).state is MemoryState.ARCHIVED


async def test_after_ninety_days_rules_are_all_there_and_what_tasks_left_is_gone(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    await quick.add_many(
        [a_draft(f"Rule {n}.", memory_class=MemoryClass.RULE, importance=0.1) for n in range(20)], by="ann"
    )
    await quick.add_many(
        [
            a_draft(f"Task {n} is done.", memory_class=MemoryClass.TASK, kind=MemoryKind.EPISODIC, importance=0.5)
            for n in range(20)
        ],
        by="ann",
    )
    for _ in range(90):
        clock.advance(DAY_S)
        await cycle_of(quick, sqlite_store).hold(clock.now())
    left = await quick.find(MemoryFilter())
    assert [record.memory_class for record in left] == [MemoryClass.RULE] * 20
    archived = await quick.find(MemoryFilter(states=[MemoryState.ARCHIVED]))
    assert len(archived) == 20, "nothing is deleted"


async def test_a_month_without_cycles_archives_nothing_at_once(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    await quick.add(a_draft(importance=1.0), by="ann")
    await cycle_of(quick, sqlite_store).hold(clock.now())
    clock.advance(60 * DAY_S)
    reports = []
    for _ in range(3):
        reports.append(await cycle_of(quick, sqlite_store).hold(clock.now()))
        clock.advance(DAY_S)
    assert [(len(each.faded), len(each.archived), each.missed_days) for each in reports if each] == [
        (1, 0, 59), (1, 0, 0), (0, 1, 0),
    ]  # fmt: skip


async def test_what_is_read_between_two_cycles_is_counted_from_the_beginning(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    record = await quick.add(a_draft(importance=0.04), by="ann")
    for read in (False, False, True, False, False):
        clock.advance(DAY_S)
        if read:
            await quick.note_read([record.memory_id], by="analyst")
        await cycle_of(quick, sqlite_store).hold(clock.now())
    assert (await quick.get(record.memory_id)).state is MemoryState.ARCHIVED  # three after the read
    assert [each.event for each in await quick.history(record.memory_id)].count("memory.faded") == 5


async def test_a_day_has_one_cycle_however_many_servers_hold_it(
    book: MemoryBook, store: SqlStore, clock: HandClock
) -> None:
    made = await book.add_many([a_draft(f"Faint {n}.", importance=0.01) for n in range(5)], by="ann")
    held = await asyncio.gather(*(cycle_of(book, store).hold(clock.now()) for _ in range(3)))
    again = await cycle_of(book, store).hold(clock.now())

    assert again is None and any(held)
    for record in made:
        assert [each.event for each in await book.history(record.memory_id)].count("memory.faded") == 1


async def test_what_belongs_to_a_conversation_goes_when_that_is_over_and_not_before(
    quick: MemoryBook, sqlite_store: SqlStore, clock: HandClock
) -> None:
    kept = {"memory_class": MemoryClass.SESSION, "session": "conversation/x", "kind": MemoryKind.WORKING}
    record = await quick.add(a_draft("We are at page 3.", **kept), by="ann")
    clock.advance(400 * DAY_S)
    await cycle_of(quick, sqlite_store).hold(clock.now())
    assert (await quick.get(record.memory_id)).state is MemoryState.ACTIVE

    ended = NewEvent("conversation.ended", {"by": "ann"})
    await sqlite_store.ledger.append(Append("conversation/x", (ended,), 0, ORGANISATION, "/test"))
    clock.advance(DAY_S)
    await cycle_of(quick, sqlite_store).hold(clock.now())
    assert (await quick.get(record.memory_id)).state is MemoryState.ARCHIVED
