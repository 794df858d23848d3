"""One tail for all subscribers of a process: it reads once, or not at all, and tells when it cannot."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from runtime.bus import InProcessBus
from runtime.bus.tail import KEPT
from runtime.errors import LedgerError, LedgerUnavailable
from runtime.ledger.store import SqlStore
from tests.runtime.bus.messages import fact, take

pytestmark = pytest.mark.anyio


async def test_two_hundred_subscribers_do_not_read_what_their_process_commits(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each catches up by itself, which takes a few reads; the 100 events after that take none."""
    bus, read_all, reads = InProcessBus(sqlite_store, poll_s=60), sqlite_store.ledger.read_all, []
    caught_up = asyncio.Event()

    async def counted(**arguments: Any) -> Any:
        reads.append(arguments)
        if len(reads) == 200:
            caught_up.set()
        return await read_all(**arguments)

    monkeypatch.setattr(sqlite_store.ledger, "read_all", counted)
    await sqlite_store.ledger.append(fact(0))
    subscribers = [asyncio.create_task(take(bus, "*", 0, 101)) for _ in range(200)]
    async with asyncio.timeout(20):
        await caught_up.wait()
    began = len(reads)
    for number in range(1, 101):
        await sqlite_store.ledger.append(fact(number))
    taken = await asyncio.gather(*subscribers)

    assert all([event.position for event in events] == list(range(1, 102)) for events in taken)
    assert len(reads) - began < 1_000  # not 20,000


async def test_who_falls_behind_what_is_kept_reads_the_ledger(sqlite_store: SqlStore) -> None:
    bus = InProcessBus(sqlite_store, poll_s=60)
    async with aclosing(bus.subscribe("*", after=0)) as slow:
        await sqlite_store.ledger.append(fact(0))
        first = await anext(slow)
        count = KEPT * 2 + 50
        await asyncio.gather(*(sqlite_store.ledger.append(fact(number)) for number in range(1, count)))
        async with asyncio.timeout(20):
            rest = [await anext(slow) for _ in range(count - 1)]

    assert [first.position, *(event.position for event in rest)] == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("fault", "told"),
    [(LedgerUnavailable("away"), LedgerUnavailable), (KeyError("a fault of the program"), LedgerError)],
)
async def test_a_subscriber_is_told_that_the_ledger_is_away_and_goes_on_afterwards(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch, fault: Exception, told: type[LedgerError]
) -> None:
    bus = InProcessBus(sqlite_store, poll_s=0.01)
    async with aclosing(bus.subscribe("*", after=0)) as events, aclosing(bus.subscribe("*", after=0)) as others:
        await sqlite_store.ledger.append(fact(0))
        assert (await anext(events)).position == (await anext(others)).position == 1
        await bus._tail.moved(0)  # until its first look each reads for itself, and is told of a fault as it is
        with monkeypatch.context() as patch:

            async def away(**_arguments: Any) -> Any:
                raise fault

            patch.setattr(sqlite_store.ledger, "read_all", away)
            with pytest.raises(told):
                async with asyncio.timeout(20):
                    await anext(events)
        await sqlite_store.ledger.append(fact(1))

    assert [event.position for event in await take(bus, "*", 1, 1)] == [2]
