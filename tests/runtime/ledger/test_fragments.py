"""Fragments: collected, flushed in time or by number, read by sequence, on each store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contracts import ExecutionId
from runtime.errors import LedgerUnavailable
from runtime.ledger import open_store
from runtime.ledger.port import Append, Fragment, NewEvent, Snapshot
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
STREAM = "order/1"


def word(text: str) -> NewEvent:
    return NewEvent("model.said", {"text": text})


def words(fragments: list[Fragment]) -> list[object]:
    return [fragment.data["text"] for fragment in fragments]


@pytest.fixture
async def slow_store(tmp_path: Path, clock: HandClock) -> AsyncIterator[SqlStore]:
    """A store that flushes by number only."""
    settings = LedgerSettings(synchronous="NORMAL", flush_ms=60_000, flush_events=10)
    store = await open_store(settings, home=tmp_path, clock=clock)
    yield store
    await store.close()


async def stored(store: SqlStore, count: int) -> list[Fragment]:
    """Return the fragments once there are so many."""
    async with asyncio.timeout(60):
        found: list[Fragment] = []
        while len(found) < count:
            found = await store.fragments.read()
        return found


async def test_what_was_flushed_is_read_in_order_with_all_it_said(store: SqlStore, clock: HandClock) -> None:
    execution_id = ExecutionId.new()
    store.fragments.write(STREAM, word("one"), execution_id=execution_id)
    store.fragments.write("order/2", word("鸟 \N{BIRD}"))
    await store.fragments.flush()

    first, second = await store.fragments.read()

    assert (first.stream, first.type, first.execution_id) == (STREAM, "model.said", execution_id)
    assert (first.time, first.data) == (clock.now(), {"text": "one"})
    assert (second.stream, second.execution_id, second.data) == ("order/2", None, {"text": "鸟 \N{BIRD}"})
    assert first.seq < second.seq
    assert await store.fragments.read(after=first.seq) == [second]
    assert await store.fragments.read(stream=STREAM) == [first]
    assert await store.fragments.read(limit=1) == [first]


async def test_the_newest_of_some_streams_come_first(store: SqlStore) -> None:
    assert await store.fragments.head() == 0
    for number, stream in enumerate(("order/1", "order/2", "order/3", "order/1")):
        store.fragments.write(stream, word(str(number)))
    await store.fragments.flush()

    assert words(await store.fragments.newest(["order/1", "order/3"])) == ["3", "2", "0"]
    assert words(await store.fragments.newest(["order/1", "order/3"], limit=2)) == ["3", "2"]
    assert await store.fragments.newest(["order/none"]) == await store.fragments.newest([]) == []
    assert await store.fragments.head() == (await store.fragments.read())[-1].seq


async def test_ten_are_stored_without_a_flush(slow_store: SqlStore) -> None:
    for number in range(9):
        slow_store.fragments.write(STREAM, word(str(number)))
    assert await slow_store.fragments.read() == []

    slow_store.fragments.write(STREAM, word("9"))

    assert words(await stored(slow_store, 10)) == [str(number) for number in range(10)]


async def test_fewer_are_stored_after_a_moment(tmp_path: Path, clock: HandClock) -> None:
    store = await open_store(LedgerSettings(synchronous="NORMAL", flush_ms=1), home=tmp_path, clock=clock)
    store.fragments.write(STREAM, word("alone"))

    assert words(await stored(store, 1)) == ["alone"]
    await store.close()


async def test_closing_stores_what_waits(slow_store: SqlStore, tmp_path: Path, clock: HandClock) -> None:
    slow_store.fragments.write(STREAM, word("last words"))
    await slow_store.close()

    again = await open_store(LedgerSettings(), home=tmp_path, clock=clock)
    assert words(await again.fragments.read()) == ["last words"]
    await again.close()


async def test_many_writers_keep_their_order(store: SqlStore) -> None:
    async def say(stream: str) -> None:
        for number in range(35):
            store.fragments.write(stream, word(str(number)))
            await asyncio.sleep(0)

    await asyncio.gather(*(say(f"order/{each}") for each in range(4)))
    await store.fragments.flush()

    for each in range(4):
        assert words(await store.fragments.read(stream=f"order/{each}")) == [str(number) for number in range(35)]


async def test_what_cannot_be_stored_is_refused_when_it_is_written(slow_store: SqlStore) -> None:
    with pytest.raises(ValueError, match="not a stream"):
        slow_store.fragments.write("nowhere", word("x"))
    with pytest.raises(ValueError, match="not JSON"):
        slow_store.fragments.write(STREAM, NewEvent("model.said", {"text": object()}))
    await slow_store.fragments.flush()
    assert await slow_store.fragments.read() == []


async def test_they_stand_outside_the_ledger(store: SqlStore) -> None:
    store.fragments.write(STREAM, word("x"))
    await store.fragments.flush()
    await store.ledger.append(Append(STREAM, [NewEvent("step.finished", {})], 0, "acme", "/organisation/acme"))

    assert [event.position for event in await store.ledger.read_all()] == [1]
    assert await store.ledger.verify() == []


async def test_erasing_takes_away_what_may_say_the_same_again(store: SqlStore) -> None:
    answered = Append(STREAM, [NewEvent("model.answered", {"text": "a secret"})], 0, "acme", "/organisation/acme")
    other = Append("order/2", [NewEvent("model.answered", {})], 0, "acme", "/organisation/acme")
    snapshots = [Snapshot(STREAM, 1, b"a secret"), Snapshot("order/2", 1, b"kept")]
    await store.ledger.append(answered, other, snapshots=snapshots)
    store.fragments.write(STREAM, word("a secret"))
    store.fragments.write("order/2", word("kept"))
    await store.fragments.flush()

    await store.ledger.erase(STREAM, 1)

    assert words(await store.fragments.read()) == ["kept"]
    assert (await store.ledger.snapshots(STREAM), len(await store.ledger.snapshots("order/2"))) == ([], 1)
    assert await store.ledger.verify() == []


async def test_while_the_ledger_is_away_they_are_kept_for_the_next_flush(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(job: object, **rest: object) -> None:
        raise LedgerUnavailable("gone")

    sqlite_store.fragments.write(STREAM, word("one"))
    with monkeypatch.context() as gone:
        gone.setattr(sqlite_store.writer, "do", away)
        with pytest.raises(LedgerUnavailable):
            await sqlite_store.fragments.flush()
        sqlite_store.fragments.write(STREAM, word("two"))
    await sqlite_store.fragments.flush()

    assert words(await sqlite_store.fragments.read()) == ["one", "two"]
