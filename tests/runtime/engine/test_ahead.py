"""What the journal takes in before it is stored: in front of the next append, or soon by itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts import Effect, Json, OrderState
from runtime.capabilities.port import CallContext
from runtime.engine.flow import Flow
from runtime.engine.journal import Journal
from runtime.engine.view import OrderView
from runtime.errors import LedgerUnavailable, NotStorable, VersionConflict
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.telemetry.redaction import BLOT
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import CrashingStore
from tests.fakes.engine_world import Tool, World
from tests.runtime.engine.test_journal import Held, skipped

pytestmark = pytest.mark.anyio

FAILED = {"step": "b", "index": None, "final": True, "problem": {"code": "X", "message": "x"}}


@pytest.fixture
def held(sqlite_store: SqlStore) -> Held:
    return Held(sqlite_store)


@pytest.fixture
def alone(sqlite_store: SqlStore, clock: HandClock, held: Held) -> Journal:
    """A journal of an order of which nothing else goes on."""
    order = World(sqlite_store, clock).order({"id": "a", "use": "echo"})
    store: Any = held
    return Journal(
        store, order, OrderView(), redact=lambda value: value, leases=(), source="/test", clock=clock, flow=Flow()
    )


async def kinds_in(held: Held) -> list[str]:
    return [event.type for event in await held.read_all()]


async def test_what_goes_ahead_is_known_at_once_and_stored_in_front_of_the_next(alone: Journal, held: Held) -> None:
    await alone.write_ahead(skipped("a"))
    assert list(alone.view.units) == [("a", None)]

    await alone.write(NewEvent("step.failed", FAILED))

    assert await kinds_in(held) == ["step.skipped", "step.failed"]
    assert (alone.view.version, list(alone.view.units)) == (2, [("a", None), ("b", None)])


async def test_what_goes_ahead_is_stored_by_itself_where_nothing_follows(alone: Journal, held: Held) -> None:
    await alone.write_ahead(skipped("a"))
    async with asyncio.timeout(60):
        await held.begun.wait()
    await alone.aclose()

    assert await kinds_in(held) == ["step.skipped"]


async def test_who_flushes_waits_for_what_is_on_its_way(alone: Journal, held: Held) -> None:
    held.go.clear()
    await alone.write_ahead(skipped("a"))
    await asyncio.wait_for(held.begun.wait(), 60)
    flushing = asyncio.ensure_future(alone.flush())
    await asyncio.sleep(0)
    assert not flushing.done()

    held.go.set()
    await asyncio.wait_for(flushing, 60)

    assert await kinds_in(held) == ["step.skipped"] and held.appends == 1


async def test_what_was_refused_goes_ahead_of_the_next_try(alone: Journal, held: Held) -> None:
    await alone.write_ahead(skipped("a"))
    held.fault = LedgerUnavailable("gone")
    with pytest.raises(LedgerUnavailable):
        await alone.write(skipped("b"))

    held.fault = None
    await alone.write(skipped("c"))

    assert list(alone.view.units) == [("a", None), ("c", None)]
    assert len(await kinds_in(held)) == alone.view.version == 2


async def test_what_goes_ahead_and_can_never_be_stored_is_refused_before_anybody_knows_it(alone: Journal) -> None:
    with pytest.raises(NotStorable):
        await alone.write_ahead(NewEvent("Not A Type", {}))

    assert alone.view.version == 0


async def test_what_goes_ahead_of_something_that_can_never_be_stored_is_stored_all_the_same(
    alone: Journal, held: Held
) -> None:
    await alone.write_ahead(skipped("a"))
    with pytest.raises(NotStorable):
        await alone.write(NewEvent("Not A Type", {}))

    await alone.aclose()

    assert await kinds_in(held) == ["step.skipped"]


async def test_a_stream_that_moved_on_before_what_goes_ahead_is_somebody_elses(
    alone: Journal, sqlite_store: SqlStore
) -> None:
    await alone.write_ahead(skipped("a"))
    await sqlite_store.ledger.append(Append(alone.stream, [skipped("z")], 0, "acme", "/thief"))

    assert await alone.moved_on()
    with pytest.raises(VersionConflict):
        await alone.flush()


async def test_secrets_are_taken_out_of_what_goes_ahead_before_anybody_knows_it(alone: Journal) -> None:
    await alone.write_ahead(NewEvent("step.skipped", {"step": "a", "index": None, "why": "sk-live-0123456789abcdef"}))

    assert alone.view.unit("a").why == BLOT


async def test_an_order_that_only_reads_is_one_append(sqlite_store: SqlStore, clock: HandClock) -> None:
    store = CrashingStore(sqlite_store)
    world = World(store, clock, Tool("work", lambda arguments, context: {"n": 1}))
    order = world.order({"id": "a", "use": "work"})

    report = await world.run(order)

    assert (report.state, store.ledger.appends) == (OrderState.DONE, 1)
    assert await world.kinds(order) == ["order.accepted", "step.finished", "order.finished"]


async def test_an_order_is_in_the_ledger_while_its_first_read_takes_its_time(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    stored = asyncio.Event()
    sqlite_store.ledger.on_commit(lambda events: stored.set())

    async def work(arguments: object, context: object) -> dict[str, Json]:
        await asyncio.wait_for(stored.wait(), 60)
        return {"n": 1}

    world = World(sqlite_store, clock, Tool("work", work))

    assert (await world.run(world.order({"id": "a", "use": "work"}))).output == {"n": 1}


@pytest.mark.parametrize("effect", [each for each in Effect if each is not Effect.READ])
async def test_an_order_is_in_the_ledger_before_anything_but_a_read_is_done(
    sqlite_store: SqlStore, clock: HandClock, effect: Effect
) -> None:
    before: list[str] = []

    async def work(arguments: object, context: CallContext) -> dict[str, Json]:
        before.extend(event.type for event in await sqlite_store.ledger.read(str(context.order.order_id)))
        return {"n": 1}

    world = World(sqlite_store, clock, Tool("work", work, effect))
    order = world.order({"id": "a", "use": "work"})
    await world.run(order)

    assert before == (await world.kinds(order))[: 1 + effect.needs_gate]
    assert before[0] == "order.accepted"
