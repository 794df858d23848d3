"""Erasure of one record: wherever a process dies in it, it is finished, and the words are nowhere afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts import MemoryId
from memory.consolidation.kept import ConsolidatedShelves
from memory.files.exporting import export
from memory.records.port import MemoryFilter
from memory.room import MemoryRoom
from runtime.errors import LedgerUnavailable
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.memories import BUSINESS, a_draft
from tests.memory.test_erasure import CANARY, everything, memory
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "memory", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]
pytestmark = pytest.mark.anyio


async def told(memory: MemoryRoom, clock: HandClock) -> MemoryId:
    """Let a memory be written, corrected, told as a whole, and written into files."""
    book = memory.book
    made = await book.add(a_draft(f"The canary is called {CANARY}."), by="ann")
    await book.correct(made.memory_id, {"text": f"{CANARY} is the canary.", "project": "cage"}, by="ann", version=1)
    await book.add(a_draft("Flour comes on Mondays."), by="ann")
    for shelf in await memory.consolidator.shelves():
        await memory.consolidator.consolidate(shelf)
    await memory.write_pages(clock.now())
    await export(book, [BUSINESS], memory.files)
    return made.memory_id


def let_die(owner: type, name: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a method die at one of its calls, counted from 1."""
    really, left = getattr(owner, name), at

    async def dying(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise LedgerUnavailable("The server is away.")
        return await really(*given, **named)

    monkeypatch.setattr(owner, name, dying)


@pytest.mark.parametrize(
    "where", ["lines", "pages", "words 1", "words 2", "words 3"], ids=lambda where: where.replace(" ", "-")
)
async def test_an_erasure_that_dies_anywhere_is_finished_later(
    memory: MemoryRoom, store: SqlStore, clock: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    memory_id = await told(memory, clock)
    assert sum(CANARY.encode() in each for each in (await everything(store, tmp_path)).values()) >= 6
    owner, name = {
        "lines": (ConsolidatedShelves, "forget"), "pages": (MemoryRoom, "write_pages"),
        "words": (type(store.ledger), "erase"),
    }[where.split(maxsplit=1)[0]]  # fmt: skip
    with monkeypatch.context() as away:
        let_die(owner, name, int(where[-1]) if where[-1].isdigit() else 1, away)
        with pytest.raises(LedgerUnavailable):
            await memory.erasures.erase(memory_id, by="ann", reason="asked for", now=clock.now())

    await memory.erasures.finish(clock.now())

    after = await everything(store, tmp_path)
    assert not [name for name, each in after.items() if CANARY.encode() in each]
    assert await memory.erasures.finish(clock.now()) == 0
    assert [each.text for each in await memory.book.find(MemoryFilter())] == ["Flour comes on Mondays."]
    assert await store.ledger.verify() == []
