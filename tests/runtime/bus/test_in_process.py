"""The bus delivers what was committed: all of it, once, in order."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from contracts import Event
from runtime.bus import InProcessBus
from runtime.bus.tail import PAGE
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


def fact(number: int, event_type: str = "step.finished") -> Append:
    return Append(f"order/{number}", [NewEvent(event_type, {"n": number})], 0, "acme", "/organisation/acme")


async def take(bus: InProcessBus, pattern: str, after: int, count: int) -> list[Event]:
    taken: list[Event] = []
    async with asyncio.timeout(20), aclosing(bus.subscribe(pattern, after=after)) as events:
        async for event in events:
            taken.append(event)
            if len(taken) == count:
                break
    return taken


async def test_a_subscriber_catches_up_and_then_follows(store: SqlStore) -> None:
    await store.ledger.append(*(fact(number) for number in range(3)))
    taking = asyncio.create_task(take(InProcessBus(store, poll_s=60), "*", 1, 4))
    for number in range(3, 5):
        await store.ledger.append(fact(number))

    assert [event.position for event in await taking] == [2, 3, 4, 5]


async def test_nothing_is_lost_or_repeated_while_many_write(sqlite_store: SqlStore) -> None:
    bus = InProcessBus(sqlite_store, poll_s=60)
    count = 3 * PAGE + 7
    taking = asyncio.create_task(take(bus, "*", 0, count))
    await asyncio.gather(*(sqlite_store.ledger.append(fact(number)) for number in range(count)))

    assert [event.position for event in await taking] == list(range(1, count + 1))


async def test_a_pattern_passes_over_other_types(sqlite_store: SqlStore) -> None:
    types = ["step.finished", "order.finished", "step.failed", "step.finished"]
    await sqlite_store.ledger.append(*(fact(number, name) for number, name in enumerate(types)))
    bus = InProcessBus(sqlite_store)

    assert [event.position for event in await take(bus, "step.*", 0, 3)] == [1, 3, 4]
    assert [event.position for event in await take(bus, "*.finished", 0, 3)] == [1, 2, 4]
    assert [event.position for event in await take(bus, "step.failed", 0, 1)] == [3]


@pytest.mark.parametrize("pattern", ["", "Step.finished", "step finished", "step.[a-z]+"])
async def test_a_pattern_that_fits_nothing_is_refused(sqlite_store: SqlStore, pattern: str) -> None:
    with pytest.raises(ValueError, match="fits no type of event"):
        InProcessBus(sqlite_store).subscribe(pattern, after=0)


async def test_a_reader_that_stands_still_does_not_hold_up_the_writer(sqlite_store: SqlStore) -> None:
    async with aclosing(InProcessBus(sqlite_store).subscribe("*", after=0)) as still:
        await sqlite_store.ledger.append(fact(0))
        await anext(still)
        async with asyncio.timeout(20):
            await asyncio.gather(*(sqlite_store.ledger.append(fact(number)) for number in range(1, 500)))

        assert (await anext(still)).position == 2


async def test_what_another_process_committed_arrives(sqlite_store: SqlStore, tmp_path: Path, clock: HandClock) -> None:
    other = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    taking = asyncio.create_task(take(InProcessBus(sqlite_store, poll_s=0.01), "*", 0, 1))
    await other.ledger.append(fact(0))

    assert [event.position for event in await taking] == [1]
    await other.close()
