from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from contracts import Event
from runtime.engine.flow import Flow
from runtime.engine.journal import Journal
from runtime.engine.view import OrderView
from runtime.errors import LedgerUnavailable, NotStorable, VersionConflict
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import World

pytestmark = pytest.mark.anyio


class Held:
    """A store whose appends can be held back, and that counts them."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.ledger = self
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()
        self.appends = 0
        self.fault: Exception | None = None

    async def append(self, *appends: Append, **more: Any) -> Sequence[Event]:
        self.begun.set()
        await self.go.wait()
        if self.fault:
            raise self.fault
        stored = await self._store.ledger.append(*appends, **more)
        self.appends += 1
        return stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.ledger, name)


@pytest.fixture
def held(sqlite_store: SqlStore) -> Held:
    return Held(sqlite_store)


@pytest.fixture
def journal(sqlite_store: SqlStore, clock: HandClock, held: Held) -> Journal:
    order = World(sqlite_store, clock).order({"id": "a", "use": "echo"})
    store: Any = held
    flow = Flow(beside=2)
    return Journal(
        store, order, OrderView(), redact=lambda value: value, leases=(), source="/test", clock=clock, flow=flow
    )


def skipped(step: str) -> NewEvent:
    return NewEvent("step.skipped", {"step": step, "index": None, "why": "test"})


def beside(stream: str, expected_version: int) -> Append:
    return Append(stream, [NewEvent("note.written", {})], expected_version, "acme", "/test")


async def test_what_is_ready_at_once_shares_an_append_in_the_order_it_came(journal: Journal, held: Held) -> None:
    await asyncio.gather(*(journal.write(skipped(name)) for name in "abcd"))

    assert held.appends == 1
    assert list(journal.view.units) == [("a", None), ("b", None), ("c", None), ("d", None)]
    assert journal.view.version == 4


async def test_one_that_is_refused_does_not_hurt_those_it_shared_with(journal: Journal, sqlite_store: SqlStore) -> None:
    refused, *others = await asyncio.gather(
        journal.write(skipped("a"), appends=[beside("note/1", 7)]),
        journal.write(skipped("b"), appends=[beside("note/2", 0)]),
        journal.write(skipped("c")),
        return_exceptions=True,
    )

    assert isinstance(refused, VersionConflict) and others == [None, None]
    assert list(journal.view.units) == [("b", None), ("c", None)]
    assert [len(await sqlite_store.ledger.read(f"note/{n}")) for n in (1, 2)] == [0, 1]


async def test_what_cannot_be_stored_ends_only_its_own_writer(journal: Journal) -> None:
    unfit, fine = await asyncio.gather(
        journal.write(NewEvent("Not A Type", {})), journal.write(skipped("b")), return_exceptions=True
    )

    assert isinstance(unfit, NotStorable) and fine is None
    assert journal.view.version == 1


async def test_what_is_stored_and_cannot_be_taken_in_is_not_stored_again(
    journal: Journal, sqlite_store: SqlStore
) -> None:
    unreadable = NewEvent("step.finished", {"of": "no step"})

    ends = await asyncio.gather(journal.write(skipped("a")), journal.write(unreadable), return_exceptions=True)

    assert [type(end) for end in ends] == [KeyError] * 2
    assert len(await sqlite_store.ledger.read(journal.stream)) == 2


async def test_a_ledger_that_is_gone_is_told_to_every_writer_once(journal: Journal, held: Held) -> None:
    held.fault = LedgerUnavailable("gone")

    ends = await asyncio.gather(*(journal.write(skipped(name)) for name in "abc"), return_exceptions=True)

    assert [type(end) for end in ends] == [LedgerUnavailable] * 3
    assert journal.view.version == 0


async def test_a_cancelled_writer_ends_when_its_append_is_in_and_the_view_knows(journal: Journal, held: Held) -> None:
    held.go.clear()
    writer = asyncio.ensure_future(journal.write(skipped("a")))
    await asyncio.wait_for(held.begun.wait(), 60)
    writer.cancel()
    await asyncio.sleep(0)
    assert not writer.done()

    held.go.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(writer, 60)

    assert list(journal.view.units) == [("a", None)]


async def test_a_writer_cancelled_before_its_append_begins_leaves_nothing(journal: Journal, held: Held) -> None:
    held.go.clear()
    first = asyncio.ensure_future(journal.write(skipped("a")))
    await asyncio.wait_for(held.begun.wait(), 60)
    second = asyncio.ensure_future(journal.write(skipped("b")))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second

    held.go.set()
    await asyncio.wait_for(first, 60)
    await journal.write(skipped("c"))

    assert list(journal.view.units) == [("a", None), ("c", None)]


async def test_an_own_append_on_its_way_is_nobody_elses(journal: Journal, held: Held, sqlite_store: SqlStore) -> None:
    held.go.clear()
    writer = asyncio.ensure_future(journal.write(skipped("a")))
    await asyncio.wait_for(held.begun.wait(), 60)
    asking = asyncio.ensure_future(journal.moved_on())
    await asyncio.sleep(0)
    held.go.set()

    assert not await asyncio.wait_for(asking, 60)
    await writer
    await sqlite_store.ledger.append(Append(journal.stream, [skipped("z")], 1, "acme", "/thief"))
    assert await journal.moved_on()


@pytest.fixture
def alone(sqlite_store: SqlStore, clock: HandClock) -> Journal:
    """A journal of an order of which nothing else goes on."""
    order = World(sqlite_store, clock).order({"id": "a", "use": "echo"})
    return Journal(
        sqlite_store, order, OrderView(), redact=lambda value: value, leases=(), source="/test", clock=clock,
        flow=Flow(),
    )  # fmt: skip


@contextmanager
def somebody_writes(home: Path) -> Iterator[sqlite3.Connection]:
    """Hold the database's write lock until the connection rolls back."""
    with closing(sqlite3.connect(home / "silicon.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def test_a_lone_writer_that_is_cancelled_ends_when_the_view_knows(alone: Journal, tmp_path: Path) -> None:
    await alone.write(skipped("a"))
    with somebody_writes(tmp_path) as other:
        writer = asyncio.ensure_future(alone.write(skipped("b")))
        for _ in range(3):
            await asyncio.sleep(0)
        writer.cancel()
        done, _ = await asyncio.wait({writer}, timeout=0.1)
        assert not done

        other.rollback()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(writer, 60)

    assert list(alone.view.units) == [("a", None), ("b", None)]
    assert not await alone.moved_on()


async def test_who_comes_while_a_lone_writer_waits_shares_the_next_append(alone: Journal, tmp_path: Path) -> None:
    await alone.write(skipped("a"))
    with somebody_writes(tmp_path) as other:
        writers = [asyncio.ensure_future(alone.write(skipped(name))) for name in "bcd"]
        for _ in range(3):
            await asyncio.sleep(0)
        other.rollback()
        await asyncio.wait_for(asyncio.gather(*writers), 60)

    assert list(alone.view.units) == [(name, None) for name in "abcd"]
