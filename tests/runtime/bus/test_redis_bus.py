"""Through Redis, and without it: nothing that Redis does or loses changes what arrives."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contracts import Event
from runtime.bus import InProcessBus, open_bus, redis_bus, redis_link
from runtime.bus.dead import drop, send_again
from runtime.bus.identity import ledger_id
from runtime.bus.port import Bus
from runtime.bus.redis_bus import RedisBus
from runtime.bus.redis_link import RedisLink
from runtime.errors import SettingsError
from runtime.ledger import open_store
from runtime.ledger.port import Append
from runtime.ledger.store import SqlStore
from runtime.settings import BusSettings, LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.bus.messages import Seen, fact, following, members, receipt, receipted, receipts, settled, take
from tests.servers import Redis, redis_server

__all__ = ["redis_server"]
pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("redis")]


@pytest.fixture
def settings(redis_server: Redis) -> BusSettings:
    return BusSettings(url=redis_server.url, stale_s=1, retry_first_s=0)


@pytest.fixture
async def bus(sqlite_store: SqlStore, settings: BusSettings) -> AsyncIterator[Bus]:
    """The bus of a first process, which publishes whatever is committed now."""
    bus = await open_bus(settings, sqlite_store)
    try:
        await following(bus)
        yield bus
    finally:
        await bus.close()


@pytest.fixture
async def other(sqlite_store: SqlStore, settings: BusSettings, tmp_path: Path, clock: HandClock) -> AsyncIterator[Bus]:
    """The bus of a second process on the same ledger."""
    async with another(settings, tmp_path, clock) as bus:
        yield bus


@asynccontextmanager
async def another(settings: BusSettings, home: Path, clock: HandClock) -> AsyncGenerator[Bus, None]:
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=clock)
    try:
        bus = await open_bus(settings, store)
        try:
            await following(bus)
            yield bus
        finally:
            await bus.close()
    finally:
        await store.close()


async def entries(server: Redis, store: SqlStore) -> list[str]:
    """The ids of the entries in Redis."""
    said = await asyncio.to_thread(server.ask, f"XRANGE silicon:{await ledger_id(store.ledger)}:events - +")
    return [line for line in said.decode().split("\r\n") if line.endswith("-0")]


async def test_another_process_hears_although_it_does_not_look(
    bus: Bus, sqlite_store: SqlStore, settings: BusSettings, tmp_path: Path, clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(redis_bus, "POLL_BESIDE_REDIS_S", 600)
    async with AsyncExitStack() as stack:
        store = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
        stack.push_async_callback(store.close)
        link = RedisLink(settings.url, await ledger_id(store.ledger), kept=settings.kept)
        other = RedisBus(store, settings, link, poll_s=600)
        stack.push_async_callback(other.close)
        await other.start()
        taking = asyncio.create_task(take(other, "*", 0, 3))
        for number in range(3):
            await sqlite_store.ledger.append(fact(number))

        assert [event.position for event in await taking] == [1, 2, 3]


async def test_a_fault_of_the_program_ends_neither_publishing_nor_listening(
    bus: Bus, sqlite_store: SqlStore, redis_server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stumbles once; what is committed is in Redis all the same, and both go on."""
    asked, publish = RedisLink.ask, RedisLink.publish

    async def stumble(link: RedisLink, events: Sequence[Event]) -> None:
        monkeypatch.setattr(RedisLink, "publish", publish)
        raise KeyError("unforeseen")

    async def never(link: RedisLink, call: Any) -> Any:
        monkeypatch.setattr(RedisLink, "ask", asked)
        raise KeyError("unforeseen")

    monkeypatch.setattr(RedisLink, "publish", stumble)
    monkeypatch.setattr(RedisLink, "ask", never)
    async with asyncio.timeout(60):
        for number in count():  # what was committed before the publisher first looked is not its to publish
            await sqlite_store.ledger.append(fact(number))
            if await entries(redis_server, sqlite_store):
                break
        while not (RedisLink.ask is asked and RedisLink.publish is publish):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)
    assert isinstance(bus, RedisBus) and not any(task.done() for task in bus._tasks)


async def test_many_publishers_make_one_stream(
    bus: Bus, other: Bus, sqlite_store: SqlStore, redis_server: Redis
) -> None:
    await asyncio.gather(*(sqlite_store.ledger.append(fact(number)) for number in range(50)))
    async with asyncio.timeout(60):
        while len(await entries(redis_server, sqlite_store)) < 50:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    assert await entries(redis_server, sqlite_store) == [f"{position}-0" for position in range(1, 51)]


async def test_members_of_two_processes_share_the_work(
    sqlite_store: SqlStore, settings: BusSettings, tmp_path: Path, clock: HandClock
) -> None:
    """A member that is far ahead waits for the other process: were the events not shared, it would wait for ever."""
    seen, by, enough = Seen(), Counter[str](), 41

    async def handle(name: str, event: Event) -> Sequence[Append]:
        by[name] += 1
        seen.add(event)
        if by[name] == enough:
            await seen.until(lambda: min(by["a"], by["b"]) >= enough)
        return [receipt(event)]

    patient = settings.model_copy(update={"stale_s": 60.0})
    async with (
        another(patient, tmp_path, clock) as one,
        another(patient, tmp_path, clock) as two,
        members(one, lambda event: handle("a", event)),
        members(two, lambda event: handle("b", event)),
    ):
        for start in range(0, 400, 20):
            await sqlite_store.ledger.append(*(fact(number) for number in range(start, start + 20)))
        handled = await receipted(sqlite_store.ledger, 400)

    assert sorted(seen.positions) == handled


async def test_what_a_dead_process_had_in_hand_goes_to_another(
    bus: Bus, sqlite_store: SqlStore, settings: BusSettings, tmp_path: Path, clock: HandClock
) -> None:
    """The second process holds its events and stops without giving anything back, as one that is killed."""
    seen, stuck = Seen(), Seen()

    async def handle(event: Event) -> Sequence[Append]:
        seen.add(event)
        return [receipt(event)]

    async def hang(event: Event) -> None:
        stuck.add(event)
        await asyncio.Event().wait()

    slow = settings.model_copy(update={"stale_s": 60.0})
    async with another(slow, tmp_path, clock) as dying, members(dying, hang):
        await sqlite_store.ledger.append(*(fact(number) for number in range(5)))
        await stuck.count(1)
        async with members(bus, handle):
            assert await receipted(sqlite_store.ledger, 5) == [1, 2, 3, 4, 5]
            await settled(sqlite_store.ledger, 5)

    assert set(stuck.positions) < set(seen.positions)


async def test_a_failing_event_is_given_up_after_five_times_wherever_it_is_tried(
    bus: Bus, other: Bus, sqlite_store: SqlStore
) -> None:
    tried = Seen()

    async def handle(event: Event) -> Sequence[Append]:
        tried.add(event)
        if event.position == 2:
            raise RuntimeError("never")
        return [receipt(event)]

    async with members(bus, handle), members(other, handle):
        await sqlite_store.ledger.append(*(fact(number) for number in range(3)))
        await settled(sqlite_store.ledger, 3)

    assert Counter(tried.positions) == {1: 1, 2: 5, 3: 1}
    assert [letter.position for letter in await other.dead("g")] == [2]


async def test_what_redis_trimmed_is_read_from_the_ledger(
    sqlite_store: SqlStore, settings: BusSettings, redis_server: Redis
) -> None:
    """Both begin when Redis keeps but the last of 3,000 events."""
    seen = Seen()

    async def handle(event: Event) -> None:
        seen.add(event)

    for start in range(0, 3_000, 500):
        await sqlite_store.ledger.append(*(fact(number) for number in range(start, start + 500)))
    bus = await open_bus(settings, sqlite_store)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        await stack.enter_async_context(members(bus, handle, count=3))
        await sqlite_store.ledger.append(fact(3_000))
        await settled(sqlite_store.ledger, 3_001)
        assert [event.position for event in await take(bus, "*", 0, 3_001)] == list(range(1, 3_002))

    assert sorted(seen.positions) == list(range(1, 3_002))


async def test_redis_that_is_away_slows_no_append_and_is_taken_up_again(
    bus: Bus, other: Bus, sqlite_store: SqlStore, redis_server: Redis
) -> None:
    await asyncio.to_thread(redis_server.kill)
    taking = asyncio.create_task(take(other, "*", 0, 101))
    async with asyncio.timeout(60):
        for number in range(100):
            await sqlite_store.ledger.append(fact(number))
    await asyncio.to_thread(redis_server.start)
    async with asyncio.timeout(60):
        while "100-0" not in await entries(redis_server, sqlite_store):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await sqlite_store.ledger.append(fact(100))

    assert [event.position for event in await taking] == list(range(1, 102))


async def test_redis_that_hangs_slows_no_append(
    sqlite_store: SqlStore, redis_server: Redis, settings: BusSettings, tmp_path: Path, clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Whoever waited for its answer would wait for longer than the test."""
    monkeypatch.setattr(redis_link, "ANSWER_S", 600)
    async with another(settings, tmp_path, clock) as bus, asyncio.timeout(60):
        redis_server.signal(signal.SIGSTOP)
        try:
            taking = asyncio.create_task(take(bus, "*", 0, 50))
            for number in range(50):
                await sqlite_store.ledger.append(fact(number))
            assert len(await taking) == 50
        finally:
            redis_server.signal(signal.SIGCONT)


async def test_two_ledgers_on_one_redis_never_mix(
    bus: Bus, sqlite_store: SqlStore, settings: BusSettings, tmp_path: Path, clock: HandClock
) -> None:
    (tmp_path / "second").mkdir()
    seen, seen_there = Seen(), Seen()

    async def handle(event: Event) -> None:
        seen.add(event)

    async def handle_there(event: Event) -> None:
        seen_there.add(event)

    async with AsyncExitStack() as stack:
        store = await open_store(LedgerSettings(), home=tmp_path / "second", clock=clock)
        stack.push_async_callback(store.close)
        second = await open_bus(settings, store)
        stack.push_async_callback(second.close)
        await stack.enter_async_context(members(bus, handle))
        await stack.enter_async_context(members(second, handle_there))
        await sqlite_store.ledger.append(*(fact(number) for number in range(20)))
        await store.ledger.append(fact(7))
        await settled(sqlite_store.ledger, 20)
        await settled(store.ledger, 1)

    assert len(seen.events) == 20 and [event.subject for event in seen_there.events] == ["order/7"]


async def test_without_an_address_the_bus_is_inside_the_process(sqlite_store: SqlStore) -> None:
    assert type(await open_bus(BusSettings(), sqlite_store)) is InProcessBus


async def test_an_address_that_is_none_is_told(sqlite_store: SqlStore) -> None:
    with pytest.raises(SettingsError, match="is not an address of Redis"):
        await open_bus(BusSettings(url="localhost:6379"), sqlite_store)


async def test_redis_that_never_answered_is_done_without(sqlite_store: SqlStore) -> None:
    bus = await open_bus(BusSettings(url="redis://127.0.0.1:1/0", stale_s=1), sqlite_store)
    seen = Seen()

    async def handle(event: Event) -> Sequence[Append]:
        seen.add(event)
        return [receipt(event)]

    async with AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        await stack.enter_async_context(members(bus, handle, count=2))
        await sqlite_store.ledger.append(*(fact(number) for number in range(10)))
        await settled(sqlite_store.ledger, 10)

    assert sorted(seen.positions) == list(range(1, 11))


async def test_what_an_operator_does_about_dead_letters_reaches_a_group_that_works_through_redis(
    bus: Bus, sqlite_store: SqlStore, tmp_path: Path, clock: HandClock
) -> None:
    """A command writes to the ledger alone, from a process of its own that has no Redis."""
    mended = asyncio.Event()

    async def handle(event: Event) -> Sequence[Append]:
        if not mended.is_set():
            raise RuntimeError("not yet")
        return [receipt(event)]

    operator = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
    async with members(bus, handle):
        await sqlite_store.ledger.append(fact(0), fact(1))
        await settled(sqlite_store.ledger, 2)
        mended.set()
        await send_again(operator.ledger, "g", 1, by="ann")
        await drop(operator.ledger, "g", 2, by="ann", reason="a test")
        await settled(sqlite_store.ledger, 5)  # sent again; that another was dropped is nothing for the group to settle

    assert await receipts(sqlite_store.ledger) == [1]
    assert await bus.dead("g") == []
    await operator.close()
