"""A process that is killed while it consolidates: nobody waits for it longer than its lease, and nothing is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from memory.consolidation.consolidator import Consolidator, Outcome
from memory.consolidation.shelf import Shelf
from memory.records.book import MemoryBook
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.model.port import ModelAnswer
from runtime.settings import LedgerSettings, MemorySettings
from tests.fakes.memories import BUSINESS, ORGANISATION, a_draft
from tests.fakes.summariser import Summariser, one_each

pytestmark = pytest.mark.anyio
SETTINGS = MemorySettings(lease_s=1.0, consolidated_at_once=2)
SHELF = Shelf(BUSINESS)


def _die_while_told(home: str) -> None:
    async def work() -> None:
        store = await open_store(LedgerSettings(), home=Path(home), clock=SystemClock())
        book = MemoryBook(store, ORGANISATION, clock=SystemClock(), settings=SETTINGS)
        model = Summariser(one_each())

        async def second_kills(request: object) -> ModelAnswer:
            if model.requests:
                os.kill(os.getpid(), signal.SIGKILL)
            return await model.ask(request)  # type: ignore[arg-type]

        told = Consolidator(store, book, ORGANISATION, clock=SystemClock(), settings=SETTINGS, ask=second_kills)
        await told.consolidate(SHELF)

    asyncio.run(work())


async def test_it_blocks_nobody_and_what_it_had_read_is_told(tmp_path: Path) -> None:
    store = await open_store(LedgerSettings(), home=tmp_path, clock=SystemClock())
    try:
        book = MemoryBook(store, ORGANISATION, clock=SystemClock(), settings=SETTINGS)
        await book.add_many([a_draft(f"Fact {each} holds.") for each in range(6)], by="ann")
        process = multiprocessing.get_context("spawn").Process(target=_die_while_told, args=(str(tmp_path),))
        process.start()
        await asyncio.to_thread(process.join)
        assert process.exitcode == -signal.SIGKILL

        model = Summariser(one_each())
        other = Consolidator(store, book, ORGANISATION, clock=SystemClock(), settings=SETTINGS, ask=model.ask)
        async with asyncio.timeout(30):
            while (done := await other.consolidate(SHELF)).outcome is Outcome.BUSY:  # noqa: ASYNC110 - until it runs out
                await asyncio.sleep(0.1)
        assert (done.outcome, done.lines, len(model.requests)) == (Outcome.TOLD, 6, 2)
        assert await store.ledger.verify() == []
    finally:
        await store.close()


async def test_a_model_that_takes_longer_than_the_lease_is_waited_for(tmp_path: Path) -> None:
    store = await open_store(LedgerSettings(), home=tmp_path, clock=SystemClock())
    try:
        book = MemoryBook(store, ORGANISATION, clock=SystemClock(), settings=SETTINGS)
        await book.add(a_draft("It holds."), by="ann")
        model = Summariser(one_each())

        async def slow(request: object) -> ModelAnswer:
            await asyncio.sleep(2.2)
            return await model.ask(request)  # type: ignore[arg-type]

        told = Consolidator(store, book, ORGANISATION, clock=SystemClock(), settings=SETTINGS, ask=slow)
        other = Consolidator(store, book, ORGANISATION, clock=SystemClock(), settings=SETTINGS)
        telling = asyncio.create_task(told.consolidate(SHELF))
        await asyncio.sleep(1.6)
        assert (await other.consolidate(SHELF)).outcome is Outcome.BUSY
        assert (await telling).outcome is Outcome.TOLD
    finally:
        await store.close()
